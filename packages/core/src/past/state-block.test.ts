import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventBody } from "../conversation/event.ts";
import type { Json } from "../conversation/part.ts";
import { type ConversationState, emptyConversation } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import { noUsage } from "../conversation/usage.ts";
import { countDroppableLines, stateBlock, workStateOf } from "./state-block.ts";

/** A conversation that is written event by event, with messages `m1`, `m2`, ... and calls `c1`, `c2`, ... */
class Written {
  readonly state: ConversationState = emptyConversation("x");
  #seq = 0;
  #messages = 0;
  #calls = 0;
  leaf: string | null = null;

  write(...bodies: readonly EventBody[]): void {
    for (const body of bodies) reduce(this.state, { ...body, seq: ++this.#seq, epoch: 1, at: 0 });
  }

  say(parts: Extract<EventBody, { type: "message.added" }>["parts"], more: object = {}): string {
    const message = `m${++this.#messages}`;
    this.write({ type: "message.added", message, parentId: this.leaf, role: "user", author: "user", parts, ...more });
    if (!("call" in more)) this.leaf = message;
    return message;
  }

  /** A response with one call; `end` writes the call's effects and its result. */
  call(tool: string, about: object = {}, ends: readonly object[] | null = [], parentId = this.leaf): string {
    const message = `m${++this.#messages}`;
    const call = `c${++this.#calls}`;
    const of = { message, call };
    this.write(
      { type: "message.started", message, parentId, run: "r", model: "m" },
      { type: "call.pending", ...of, tool, inputText: "{}", input: {} as Json, about },
      { type: "message.completed", message, parts: [{ type: "call", call }], finish: "calls", usage: noUsage },
    );
    if (parentId === this.leaf) this.leaf = message;
    for (const end of ends ?? []) this.write({ ...of, ...end } as EventBody);
    if (ends) this.write({ type: "call.completed", ...of, output: "done", ...seenIn(ends) });
    return call;
  }

  block(left = 0, before?: string): string {
    return stateBlock(workStateOf(this.state, pathTo(this.state, this.leaf), before), left);
  }
}

/** Files that a call saw are part of its end. */
function seenIn(ends: readonly object[]): object {
  const seen = ends.flatMap((end) => ("seen" in end ? (end.seen as object[]) : []));
  return seen.length > 0 ? { seen } : {};
}

const change = (path: string, before: string | null, after: string | null) => {
  const kind = before === null ? "created" : after === null ? "deleted" : "changed";
  return { type: "file.changed", path, kind, before, after, added: 1, removed: 0, diff: "" };
};
const saw = (path: string, digest: string | null) => ({ seen: [{ path, digest }] });
const sectionOf = (block: string, heading: string) =>
  new RegExp(`^${heading}\n((?:[-([].*(?:\n|$))*)`, "m").exec(block)?.[1]?.trim().split("\n") ?? [];

describe("F87: the program's block", () => {
  test("is empty where nothing is known", () => {
    const written = new Written();
    written.say([{ type: "text", text: "Hello" }]);
    expect(written.block()).toBe("");
  });

  test("lists plan, open files, processes, sub-agents, questions and attachments as they are now", () => {
    const written = new Written();
    const picture = { type: "file", mediaType: "image/png", name: "fig.png", data: "AAAA" } as const;
    const notes = '<file name="notes.md">\nAll that is known\n</file>';
    const output = '<output name="ls">\na.ts\n</output>';
    written.say([
      { type: "text", text: "See" },
      picture,
      ...[notes, output].map((text) => ({ type: "text", text }) as const),
    ]);
    const step = (title: string, status: string) => ({ title, status });
    written.call("update_plan", { plan: [step("Old", "pending")] });
    written.call("update_plan", {
      plan: [step("Read", "completed"), step("Write", "in_progress"), step("Test", "pending")],
    });
    const started = written.call("shell", { command: "npm run dev" });
    const processes = ["npm run dev", "npm test"].map((title, index) => ({
      ...({
        type: "process.started",
        message: written.leaf ?? "",
        call: started,
        process: `p${index + 1}`,
        title,
      } as const),
    }));
    written.write(...processes, { type: "process.ended", process: "p2", outcome: "exit code 0" });
    const edit = written.call("edit_mode", { paths: [{ path: "src/a.ts", access: "write" }] });
    written.write({ type: "call.following", message: written.leaf ?? "", call: edit, run: "r" });
    const launching = written.call("launch_agent", { title: "Count the trees", agent: "reader" }, null);
    written.say([{ type: "text", text: "Count the trees" }], { parentId: null, author: "tool", call: launching });
    const text = "Which park?\nThe old one?";
    written.write({ type: "question.asked", message: written.leaf ?? "", call: launching, question: "q", text });
    expect(written.block()).toBe(`The program recorded this when the summary was made.
Plan:
[x] Read
[~] Write
[ ] Test
Files that wait for your next message:
- src/a.ts (edit_mode)
Running in the background:
- p1: npm run dev
Sub-agents without a result:
- reader waits for the user: Count the trees
Questions that the user has not answered:
- Which park?\\nThe old one?
Files that the user attached:
- fig.png
- notes.md`);
  });

  test("has nothing of another branch", () => {
    const written = new Written();
    const first = written.say([{ type: "text", text: "Hello" }]);
    written.call("write", {}, [change("left.ts", null, "1")]);
    written.leaf = first;
    written.call("write", {}, [change("right.ts", null, "1")]);
    expect(sectionOf(written.block(), "Files that the agent used. The most recent file is the last one:")).toEqual([
      "- created right.ts",
    ]);
  });

  test("has the changes of sub-agents, with their worktree", () => {
    const written = new Written();
    written.say([{ type: "text", text: "Hello" }]);
    for (const [file, more] of [
      ["a.ts", {}],
      ["b.ts", { worktree: "side" }],
    ] as const) {
      const launching = written.call("launch_agent", {}, null);
      const task = written.say([{ type: "text", text: "Go" }], {
        parentId: null,
        author: "tool",
        call: launching,
        ...more,
      });
      written.call("write", {}, [change(file, "1", "2"), saw("read.ts", "1")], task);
    }
    const lines = sectionOf(written.block(), "Files that the agent used. The most recent file is the last one:");
    expect(lines).toEqual(["- changed a.ts", "- changed b.ts (in the worktree side)"]);
  });

  test("leaves out lines that have no room, first files that were read, and counts them", () => {
    const written = new Written();
    written.say([{ type: "text", text: "Hello" }]);
    written.call("update_plan", {
      plan: [
        { title: "Go", status: "completed" },
        { title: "Stay", status: "pending" },
      ],
    });
    written.call("read", {}, [saw("a.ts", "1"), saw("b.ts", "1")]);
    written.call("write", {}, [change("c.ts", null, "1")]);
    written.call("read", {}, [saw("d.ts", "1")]);
    const files = (left: number) =>
      sectionOf(written.block(left), "Files that the agent used. The most recent file is the last one:");
    expect(files(0)).toEqual(["- read a.ts", "- read b.ts", "- created c.ts", "- read d.ts"]);
    expect(files(1)).toEqual(["(1 more not listed)", "- read b.ts", "- created c.ts", "- read d.ts"]);
    expect(files(3)).toEqual(["(3 more not listed)", "- created c.ts"]);
    expect(sectionOf(written.block(5), "Plan:")).toEqual(["(1 more not listed)", "[ ] Stay"]);
    expect(countDroppableLines(workStateOf(written.state, pathTo(written.state, written.leaf)))).toBe(6);
  });

  test("keeps the content of forgotten messages", () => {
    const old = new Written();
    const picture = { type: "file", mediaType: "image/png", name: "fig.png", data: "AAAA" } as const;
    old.say([{ type: "text", text: "Hello" }, picture]);
    old.call("update_plan", { plan: [{ title: "Go", status: "pending" }] });
    old.call("read", {}, [saw("z.ts", "1"), saw("gone.ts", "1")]);
    old.call("write", {}, [change("a.ts", null, "1"), change("b.ts", "1", "2"), change("c.ts", "1", null)]);
    const written = new Written();
    written.say([{ type: "text", text: "Go on" }]);
    written.call("write", {}, [change("a.ts", "1", "2"), change("c.ts", null, "3"), change("b.ts", "2", null)]);
    const block = written.block(0, old.block(1));
    expect(sectionOf(block, "Plan:")).toEqual(["[ ] Go"]);
    expect(sectionOf(block, "Files that the user attached:")).toEqual(["- fig.png"]);
    expect(sectionOf(block, "Files that the agent used. The most recent file is the last one:")).toEqual([
      ...["(1 more not listed)", "- read gone.ts", "- created a.ts", "- changed c.ts", "- deleted b.ts"],
    ]);
    expect(written.block(0, "Some words of a user.")).toBe(written.block());
  });
});

test("F87: the block has the files in their latest state, whatever calls and commands did to them", () => {
  const names = ["a", "b", "c"] as const;
  const step = fc.record({
    file: fc.constantFrom(...names),
    act: fc.constantFrom("write", "remove", "read", "command", "command removes"),
  });
  const there = fc.record({ a: fc.boolean(), b: fc.boolean(), c: fc.boolean() });
  fc.assert(
    fc.property(there, fc.array(step, { maxLength: 25 }), (begun, steps) => {
      // The judge is a disk, and its owner's memory of it.
      const disk = new Map<string, string | null>(names.map((name) => [name, begun[name] ? "0" : null]));
      let told: { name: string; first: string | null; changed: boolean; read: boolean }[] = [];
      const written = new Written();
      written.say([{ type: "text", text: "Hello" }]);
      for (const [index, { file, act }] of steps.entries()) {
        const now = disk.get(file) ?? null;
        const next = act === "remove" || act === "command removes" ? null : String(index + 1);
        const known = told.find(({ name }) => name === file);
        const isCommand = act.startsWith("command");
        if (next === null && now === null) continue;
        if (act === "read") written.call("read", {}, [saw(file, now)]);
        else if (!isCommand) written.call(act, {}, [change(file, now, next)]);
        // A command's changes to a file that was never read are unknown.
        else if (known) written.call("shell", { command: "x" }, [saw(file, next)]);
        if (act !== "read") disk.set(file, next);
        if (isCommand && !known) continue;
        told = told.filter((each) => each !== known);
        const { first, changed, read } = known ?? { first: now, changed: false, read: false };
        told.push({
          name: file,
          first,
          changed: changed || act !== "read",
          read: read || (act === "read" && now !== null),
        });
      }
      const expected = told.flatMap(({ name, first, changed, read }) => {
        const now = disk.get(name) ?? null;
        if (changed && first === null && now !== null) return [`- created ${name}`];
        if (changed && first !== null) return [now === null ? `- deleted ${name}` : `- changed ${name}`];
        return read && now !== null ? [`- read ${name}`] : [];
      });
      expect(sectionOf(written.block(), "Files that the agent used. The most recent file is the last one:")).toEqual(
        expected,
      );
    }),
    { numRuns: process.env.BANYAN_LONG === "1" ? 20_000 : 300 },
  );
});

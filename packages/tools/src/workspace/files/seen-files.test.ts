import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { launchAgent, Session, type Tool } from "@banyan/core";
import { call, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { bringTool } from "../changes/bring.ts";
import { play } from "../edit-mode/play.fixture.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { openWorkspace } from "./paths.ts";
import { loggingSeenFiles } from "./seen-files.ts";

const REFUSED =
  "The tool failed: n.md changed since you read it, so it was not replaced. Read it again first, or change one place in it with edit.";
const read = call("read", { path: "n.md" });
const write = call("write", { path: "n.md", content: "mine\n" });
const shell = (command: string) => call("shell", { command });

/** A folder with a file, and a conversation about the file: each turn is one answer with its calls and results. */
function talking() {
  const folder = new TestFolder({ "n.md": "one\ntwo\n" });
  const session = Session.inMemory();
  return {
    folder,
    session,
    /** Returns the results of the calls in one turn. */
    async turn(...calls: ReturnType<typeof call>[]) {
      const { results } = await play(folder, [calls, "Done."], { session });
      return results.slice(-calls.length);
    },
    user: (content: string) => writeFileSync(folder.path("n.md"), content),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

test("F78, K4: write refuses a file that a user changed since its reading, and works after the next reading", async () => {
  using it = talking();
  await it.turn(read);
  it.user("one\ntwo\nby the user\n");
  expect(await it.turn(write)).toEqual([REFUSED]);
  expect(it.folder.read("n.md")).toContain("by the user");
  expect((await it.turn(read, write))[1]).toMatch(/^Overwrote n\.md/);
  it.user("again\n");
  expect(await it.turn(write)).toEqual([REFUSED]);
});

test("F78: a read range counts as seen, and an equal content with another time is no change", async () => {
  using it = talking();
  await it.turn(call("read", { path: "n.md", start: 2, end: 2 }));
  utimesSync(it.folder.path("n.md"), 1, 1);
  it.user("one\ntwo\n");
  expect((await it.turn(write))[0]).toMatch(/^Overwrote/);
  await it.turn(call("read", { path: "n.md", start: 1, end: 1 }));
  it.user("mine\nmore\n");
  expect(await it.turn(write)).toEqual([REFUSED]);
});

test("F78: changes by the branch's own commands, edits and writes count as seen; earlier changes by a user do not", async () => {
  using it = talking();
  await it.turn(read, shell("sed -i s/two/three/ n.md"));
  expect(it.folder.read("n.md")).toBe("one\nthree\n");
  await it.turn(call("edit", { path: "n.md", old_text: "three", new_text: "four" }), shell("printf x >> n.md; exit 3"));
  expect((await it.turn(write))[0]).toMatch(/^Overwrote/);
  it.user("mine\nby the user\n");
  await it.turn(shell("printf more >> n.md"));
  expect(await it.turn(write)).toEqual([REFUSED]);
  expect(it.folder.read("n.md")).toBe("mine\nby the user\nmore");
});

test("F78: edit needs only its place, and does not count as reading a user's other changes", async () => {
  using it = talking();
  await it.turn(read);
  it.user("one\ntwo\nby the user\n");
  expect((await it.turn(call("edit", { path: "n.md", old_text: "two", new_text: "2" })))[0]).toContain("+2");
  expect(await it.turn(write)).toEqual([REFUSED]);
  expect(it.folder.read("n.md")).toBe("one\n2\nby the user\n");
});

test("F78: write overwrites and shows a file that the branch never saw, makes a removed file, and refuses a file that came back", async () => {
  using it = talking();
  expect((await it.turn(write))[0]).toMatch(/^Overwrote n\.md.*\n.*\n.*\n.*\n-one\n-two\n\+mine/);
  rmSync(it.folder.path("n.md"));
  expect((await it.turn(write))[0]).toMatch(/^Created/);
  await it.turn(shell("rm n.md"));
  it.user("by the user\n");
  expect(await it.turn(write)).toEqual([REFUSED]);
});

test("F78: each branch has its own view", async () => {
  using it = talking();
  await it.turn(read);
  const fork = it.session.state.leaf as string;
  await it.turn(write);
  const { results } = await play(it.folder, [[write], "Done."], { session: it.session, at: fork });
  expect(results.at(-1)).toBe(REFUSED);
});

test("F78: a sub-agent's changes count as seen by its parent, and its readings do not", async () => {
  using it = talking();
  const also: Tool[] = [launchAgent()];
  const launch = call("launch_agent", { task: "Do it.", expected_output: "words" });
  await it.turn(read);
  const finish = [call("finish_task", { result: "Done." })];
  const changes = [[launch], [read, write], finish, [call("write", { path: "n.md", content: "new\n" })], "Done."];
  const changed = await play(it.folder, changes, { session: it.session, also });
  expect(changed.results.at(-1)).toMatch(/^Overwrote/);
  it.user("by the user\n");
  const looked = await play(it.folder, [[launch], [read], finish, [write], "Done."], { session: it.session, also });
  expect(looked.results.at(-1)).toBe(REFUSED);
});

test.each(["utf-16le", "utf-16be"] as const)(
  "F82: a text in %s that a user attached counts as read",
  async (encoding) => {
    using it = talking();
    const text = "\ufeffgrün\n";
    const bytes = (written: string) => {
      const wide = Buffer.from(written, "utf16le");
      return encoding === "utf-16be" ? wide.swap16() : wide;
    };
    writeFileSync(it.folder.path("n.md"), bytes(text));
    const attached = `<file name="n.md" encoding="${encoding}">\n${text}\n</file>`;
    await it.session.add([
      { type: "text", text: "Look." },
      { type: "text", text: attached },
    ]);
    expect((await it.turn(write))[0]).toMatch(/^Overwrote/);
    await it.session.add([
      { type: "text", text: "Look." },
      { type: "text", text: attached },
    ]);
    writeFileSync(it.folder.path("n.md"), bytes("\ufeffby the user\n"));
    expect(await it.turn(write)).toEqual([REFUSED]);
  },
);

test("F78: a user's attachment counts as read", async () => {
  using it = talking();
  const session = Session.inMemory();
  await session.add([{ type: "text", text: '<file name="./n.md">\none\ntwo\n\n</file>' }]);
  it.user("by the user\n");
  const { results } = await play(it.folder, [[write], "Done."], { session, at: session.state.leaf as string });
  expect(results).toEqual([REFUSED]);
});

test("F78: edit mode does not wait for a block that replaces a file, or its lines, after the file changed since its reading", async () => {
  using it = talking();
  await it.turn(read);
  it.user("zero\none\ntwo\n");
  const whole = call("edit_mode", { file_path: "n.md", mode: "complete", overwrite: true });
  for (const arming of [whole, call("edit_mode", { file_path: "n.md" })])
    expect(await it.turn(arming)).toEqual([REFUSED]);
  const own = [[read], [call("edit_mode", { file_path: "n.md" })], [text("```md:1:2\nnew\n```\n")], "Done."];
  await play(it.folder, own, { session: it.session });
  expect(it.folder.read("n.md")).toBe("new\none\ntwo\n");
  expect((await it.turn(write))[0]).toMatch(/^Overwrote/);
});

test("F78: bring_over replaces no file that changed since the branch saw it", async () => {
  using it = talking();
  const incoming = async () => ({
    there: { content: Buffer.from("theirs\n"), mode: "100644" },
    base: { content: Buffer.from("restored\n"), mode: "100644" },
    hasOwnMode: false,
  });
  const merge = async ({ here, there }: { readonly here: string; readonly there: string }) => ({
    text: here + there,
    conflicts: 0,
  });
  const also = [bringTool(openWorkspace(it.folder.root), { incoming, merge })];
  const bring = async () => {
    const rounds = [[call("bring_over", { from: "b", files: ["n.md"] })], "Done."];
    return (await play(it.folder, rounds, { session: it.session, also })).results.at(-1);
  };
  await it.turn(read);
  it.user("restored\n");
  expect(await bring()).toBe(`n.md was not brought over: ${REFUSED.replace("The tool failed: ", "")}`);
  // A merge keeps other changes, so it needs no new read.
  it.user("restored\nby the user\n");
  expect(await bring()).toMatch(/^changed n\.md/);
  expect(it.folder.read("n.md")).toBe("restored\nby the user\ntheirs\n");
  it.user("restored\n");
  await it.turn(read);
  expect(await bring()).toMatch(/^changed n\.md/);
  expect(it.folder.read("n.md")).toBe("theirs\n");
});

test("F78: any tool that is run while changes are noticed counts as the branch's own", async () => {
  using it = talking();
  const workspace = openWorkspace(it.folder.root);
  const foreign: Tool = {
    name: "foreign",
    description: "Changes a file.",
    input: { type: "object" },
    effects: "external",
    execute: (_, context) => loggingSeenFiles(workspace, context, async () => it.user("by a server\n")),
  };
  await it.turn(read);
  await play(it.folder, [[call("foreign")], "Done."], { session: it.session, also: [foreign] });
  expect((await it.turn(write))[0]).toMatch(/^Overwrote/);
});

test("F78: a question about a changed file says that the call will be refused", async () => {
  using it = talking();
  await it.turn(read);
  it.user("by the user\n");
  const notes: unknown[] = [];
  await play(it.folder, [[write], "Done."], {
    session: it.session,
    permission: () => ({ decision: "ask" }),
    watch(item, session) {
      if (item.type !== "call.approval-requested") return;
      notes.push(...(item.preview?.notes ?? []));
      session.answer(item.question, { decision: "allow" }).catch(() => {});
    },
  });
  expect(notes.at(-1)).toBe(
    "n.md changed since the agent read it. The call will be refused, and the agent must read the file again.",
  );
  expect(it.folder.read("n.md")).toBe("by the user\n");
});

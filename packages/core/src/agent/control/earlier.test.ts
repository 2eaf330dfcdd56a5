import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { earlierTextsToSearch, readEarlier } from "../../context/earlier.ts";
import type { Event } from "../../conversation/event.ts";
import type { Message } from "../../conversation/message.ts";
import type { Json } from "../../conversation/part.ts";
import { pathTo } from "../../conversation/tree/path.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { SessionOptions } from "../../session/options.ts";
import { Session } from "../../session/session.ts";
import { call, finishTask, type Scene, scriptedModel } from "../../testing/scripted-model.ts";
import { storeOf } from "../../turn/store-of.fixture.ts";
import { Agent } from "../agent.ts";
import { earlier } from "./earlier.ts";
import { launchAgent } from "./launch-agent.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  about: () => ({ title: "at the garden" }),
  execute: () => `${"grass\n".repeat(400)}a hidden gate`,
});

/** A conversation of five turns, the second with a call. A summary covers the older part. */
async function summedUp(then: readonly Scene[] = [], options: SessionOptions = {}) {
  const long = "Because ".padEnd(2_000, "it is warm, ");
  const model = scriptedModel([
    long,
    [call("look", {}, "c-look")],
    "Two.",
    "Three.",
    "Four.",
    "Five.",
    "Sum.",
    ...then,
  ]);
  const events: Event[] = [];
  const agent = new Agent({ model, tools: [look, earlier(), launchAgent()] });
  const session = await Session.open(storeOf(events), "x", options);
  for (const said of ["Use figs only.", "Two?", "Three?", "Four?", "Five?"]) await agent.send(said, { session });
  expect(await agent.compact({ session })).toBeUndefined();
  return { agent, session, model, events };
}

/** Results of `earlier` calls, in the order of the current branch. */
function results({ state }: Session, tool = "earlier"): string[] {
  const messages: readonly Message[] = [...state.messages.values()];
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return calls.filter((one) => one.tool === tool).map(({ output = "" }) => output);
}

const ask = (input: Json) => [call("earlier", input)];

describe("F98: the model reads messages that a summary covers", () => {
  test("a list with addresses, a message by its number, and the result of a call, each marked", async () => {
    const { agent, session } = await summedUp([
      [call("earlier"), call("earlier", { address: "earlier:#1" }), call("earlier", { address: "earlier:c-look" })],
      "Done.",
    ]);
    await agent.send("What did I say?", { session });
    const [list = "", first, result = ""] = results(session);
    expect(list.split("\n")).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^\[You see none or only a part of \d messages and 1 result\. Each line begins with an address\.\]$/,
        ),
        "earlier:#1 the user: Use figs only.",
        "earlier:#4 you: (without text)",
        "earlier:c-look result of look at the garden (completed), 2,413 characters",
      ]),
    );
    expect(first).toBe("[Message 1 of this conversation, from before the summary, by the user.]\nUse figs only.");
    expect(result.split("\n")[0]).toBe(
      "[Result of look at the garden (completed) in message 4, from before the summary.]",
    );
    expect(result).toContain("a hidden gate");
  });

  test("a long text has pages and a search", async () => {
    const { agent, session } = await summedUp([
      [
        call("earlier", { find: "HIDDEN" }),
        call("earlier", { find: "nothing of it" }),
        call("earlier", { address: "earlier:c-look", start: 402 }),
        call("earlier", { address: "earlier:c-look", start: 403 }),
      ],
      "Done.",
    ]);
    await agent.send("Where is the gate?", { session });
    expect(results(session)).toEqual([
      "earlier:c-look:402:a hidden gate",
      "[no matches]",
      "a hidden gate",
      "The tool failed: The text has only 402 lines. Use a smaller start.",
    ]);
    const huge = { ...look, name: "huge", execute: () => "grass ".repeat(9).concat("\n").repeat(900) };
    const model = scriptedModel([[call("huge", {}, "h")], "One.", ask({ address: "earlier:h" }), "Done."]);
    const other = Session.inMemory();
    const reader = new Agent({ model, tools: [huge, earlier()] });
    await reader.send("Look.", { session: other });
    await reader.send("Again.", { session: other });
    const [page = ""] = results(other);
    expect(page.length).toBeLessThan(16_000);
    expect(page).toMatch(/\n\[More follows; read on with start=\d+\]$/);
  });

  test("numbers stay after a second summary, and after a restart in another session", async () => {
    const { agent, session, events } = await summedUp([
      "Six.",
      "Seven.",
      "Eight.",
      "Nine.",
      "Sum again.",
      ask({ address: "earlier:#1" }),
      "Yes.",
    ]);
    const before = readEarlier(pathTo(session.state, session.state.leaf), "earlier:c-look");
    for (const said of ["Six?".padEnd(3_000, " and so on"), "Seven?", "Eight?", "Nine?"])
      await agent.send(said, { session });
    expect(await agent.compact({ session })).toBeUndefined();
    await session.close();
    const again = await Session.open(storeOf(events), "x");
    await agent.send("What did I say?", { session: again });
    expect(results(again)).toEqual([
      "[Message 1 of this conversation, from before the summary, by the user.]\nUse figs only.",
    ]);
    expect(readEarlier(pathTo(again.state, again.state.leaf), "earlier:c-look")).toBe(before);
  });

  test("messages outside the session's window are read from the log, by the same numbers", async () => {
    const { agent, session } = await summedUp(["Six.", ask({ address: "earlier:#1" }), "Yes."], { window: 4 });
    await agent.send("Six?", { session });
    expect(session.state.messages.size).toBeLessThan(8);
    await agent.send("What did I say?", { session });
    expect(results(session)).toEqual([expect.stringMatching(/^\[Message 1 .*\]\nUse figs only\.$/)]);
    const model = scriptedModel(["One.", "Two.", "Three.", ask({}), "Done."]);
    const kept = Session.inMemory({ window: 2 });
    const reader = new Agent({ model, tools: [earlier()] });
    for (const said of ["One?", "Two?", "Three?", "What?"]) await reader.send(said, { session: kept });
    expect(results(kept)).toEqual([
      "The tool failed: This session has no log and keeps only its last messages, so earlier messages cannot be read.",
    ]);
  });

  test("a sub-agent reads its own path, and none of its launcher's", async () => {
    const launching = [call("launch_agent", { task: "Look around.", expected_output: "A word." })];
    const { agent, session } = await summedUp([
      launching,
      [call("earlier"), call("earlier", { address: "earlier:#1" }), call("earlier", { address: "earlier:c-look" })],
      [finishTask("done")],
      "Done.",
    ]);
    await agent.send("Launch.", { session });
    const [list, task = "", other = ""] = results(session);
    expect(list).toBe("[You are shown all messages of this branch, with their results.]");
    expect(task).toMatch(/^\[Message 1 of this conversation, by a tool\.\]\nLook around\./);
    expect(other).toMatch(/^The tool failed: Nothing on this branch has the address earlier:c-look\./);
  });

  test("the list has shortened results and messages that were too large, and no lines for users", () => {
    const base = { parentId: null, createdAt: 0 } as const;
    const said = (id: string, text: string) =>
      ({ ...base, id, role: "user", author: "user", parts: [{ type: "text", text }] }) as const;
    const done = (id: string, output: string) =>
      ({ id, tool: "t", inputText: "{}", status: "completed", attempt: 1, progress: "", output }) as const;
    const path: readonly Message[] = [
      said("u1", "Go on."),
      {
        ...base,
        id: "a1",
        role: "assistant",
        run: "r",
        model: "m",
        parts: [],
        finish: "calls",
        calls: [done("long", "all of it"), done("short", "ok")],
      },
      said("u2", "A book."),
      {
        ...base,
        id: "s1",
        role: "summary",
        parts: [{ type: "text", text: "For users." }],
        shortened: [
          { call: "long", text: "[Shortened]" },
          { message: "u2", text: "(too large)" },
        ],
      },
    ];
    expect(readEarlier(path, "earlier:").split("\n")).toEqual([
      "[You see none or only a part of 1 message and 1 result. Each line begins with an address.]",
      "earlier:long result of t (completed), 9 characters",
      "earlier:#3 the user: A book.",
    ]);
    expect(readEarlier(path, "earlier:long")).toBe("[Result of t (completed) in message 2.]\nall of it");
    expect(earlierTextsToSearch(path, "earlier:").map(({ text }) => text.split("\n").at(-1))).toEqual([
      "all of it",
      "A book.",
    ]);
  });

  test("messages of another branch, or removed by a user, are not read", async () => {
    const { agent, session, model } = await summedUp(["Other.", ask({ address: "earlier:#3" }), "Done."]);
    const path = pathTo(session.state, session.state.leaf);
    const second = path[1]?.id ?? "";
    await agent.send("On another branch", { session, at: second });
    await agent.send("What did I say?", { session });
    expect(results(session)).toEqual(["[Message 3 of this conversation, by the user.]\nOn another branch"]);
    expect(model.requests.length).toBe(10);
    await session.notes.remove(path[2]?.id ?? "");
    const removed = pathTo(session.state, path.at(-1)?.id ?? null);
    expect(() => readEarlier(removed, "earlier:#3")).toThrow(
      "This branch has only 2 messages, so there is no message 3.",
    );
    expect(earlierTextsToSearch(removed, "earlier:")).toEqual([]);
  });

  test.each([
    [
      "earlier:#99",
      /^The tool failed: This branch has only \d+ messages, so there is no message 99\. Use earlier: for a list\.$/,
    ],
    ["earlier:#0", /^The tool failed: This branch has only \d+ messages, so there is no message 0\./],
    [
      "earlier:c-lok",
      /Nothing on this branch has the address earlier:c-lok\. Did you mean earlier:c-look\? Use earlier: for a list/,
    ],
    ["notes.md", /^Not executed|address/],
  ])("the address %s gets a sentence with the right form", async (address, sentence) => {
    const { agent, session } = await summedUp([ask({ address }), "Done."]);
    await agent.send("What?", { session });
    expect(results(session)[0]).toMatch(sentence);
  });

  test("an agent has the tool only when its developer lists it", () => {
    expect(new Agent({ model: scriptedModel([]) }).options.tools ?? []).toEqual([]);
  });
});

test("F98: each address of the list names its entry on any path, and numbers are places on the path", () => {
  const texts = fc.string({ unit: "grapheme", maxLength: 40 });
  const steps = fc.array(fc.record({ said: texts, calls: fc.array(texts, { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(steps, fc.nat(), (turns, cut) => {
      const path: Message[] = turns.flatMap(({ said, calls }, turn): Message[] => [
        {
          id: `u${turn}`,
          parentId: null,
          createdAt: 0,
          role: "user",
          author: "user",
          parts: [{ type: "text", text: said }],
        },
        {
          id: `a${turn}`,
          parentId: null,
          createdAt: 0,
          role: "assistant",
          run: "r",
          model: "m",
          parts: [],
          calls: calls.map((output, index) => ({
            id: `${turn}.${index}`,
            tool: "t",
            inputText: "{}",
            status: "completed",
            attempt: 1,
            progress: "",
            output,
          })),
          finish: "stop",
        } as Message,
      ]);
      const covers = cut % path.length;
      const summary: Message = {
        id: "s",
        parentId: null,
        createdAt: 0,
        role: "summary",
        parts: [],
        covers: path[covers]?.id ?? "",
      };
      const whole = [...path, summary];
      const [, ...lines] = readEarlier(whole, "earlier:").split("\n");
      const listed = lines.map((line) => line.slice(0, line.indexOf(" ")));
      const hidden = path.slice(0, covers + 1);
      const expected = hidden.flatMap((message, index) => [
        `earlier:#${index + 1}`,
        ...(message.role === "assistant" ? message.calls.map(({ id }) => `earlier:${id}`) : []),
      ]);
      expect(listed).toEqual(expected);
      for (const address of listed) expect(readEarlier(whole, address)).toContain(", from before the summary");
      for (const [index, message] of path.entries()) {
        const [part] = message.parts;
        if (part?.type === "text") expect(readEarlier(whole, `earlier:#${index + 1}`)).toContain(part.text);
        if (message.role !== "assistant") continue;
        for (const { id, output = "" } of message.calls)
          expect(readEarlier(whole, `earlier:${id}`).endsWith(`\n${output}`)).toBe(true);
      }
    }),
    { numRuns: process.env.BANYAN_LONG ? 2_000 : 50 },
  );
});

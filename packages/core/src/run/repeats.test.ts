import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { defineTool } from "../ports/define-tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { type Beat, call, rawCall, scriptedModel, text } from "../testing/scripted-model.ts";
import type { Limits } from "./limits.ts";
import { Repeats } from "./repeats.ts";

/** Results of a turn's calls, in order; `fails` decides for each run of the tool. */
async function outputs(
  beats: readonly Beat[],
  { fails = () => true, says = () => "it is so" }: Play = {},
): Promise<string[]> {
  let runs = 0;
  const act = defineTool({
    name: "act",
    description: "Acts.",
    input: { type: "object" },
    effects: "external",
    execute() {
      const run = ++runs;
      if (fails(run)) throw new Error(`it broke, try ${run}`);
      return says(run);
    },
  });
  const edit = defineTool({
    name: "edit",
    description: "Changes a file.",
    input: { type: "object" },
    effects: "external",
    async execute(_, { changed }) {
      await changed({ path: "a", kind: "changed", before: null, after: null, added: 1, removed: 0, diff: "" });
    },
  });
  const session = Session.inMemory();
  const model = scriptedModel((_, index) => (index < beats.length ? [beats[index] as Beat] : "end"));
  await new Agent({ model, tools: [act, edit] }).send("Go", { session });
  expect(checkConversation(session.state)).toEqual([]);
  return [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls.map(({ output = "" }) => output) : [],
  );
}

interface Play {
  fails?(run: number): boolean;
  says?(run: number): string;
}

const again = (times: number, input: { a: number } = { a: 1 }) =>
  Array.from({ length: times }, () => call("act", input));
const told = (all: readonly string[], what: RegExp) =>
  all.flatMap((output, index) => (what.test(output) ? [index + 1] : []));

test("B19, B67: the third result of an identical failing call and later ones say so, whatever calls came between", async () => {
  const all = await outputs([...again(2), call("nil"), ...again(2)]);
  expect(told(all, /failed \d times in this turn/)).toEqual([4, 5]);
  expect(all[3]).toMatch(/^The tool failed: it broke, try 3\n\n\[.*failed 3 times/);
  expect(all[4]).toMatch(/failed 4 times/);
});

test.each([
  ["an unknown tool", () => call("nil", { x: 1 })],
  ["arguments that are not JSON", () => rawCall("act", "{")],
])("B67: %s counts too", async (_, beat) => {
  expect(told(await outputs([beat(), beat(), beat()]), /failed 3 times/)).toEqual([3]);
});

test("B67: other arguments, a success or a changed file in between are no repetition", async () => {
  const others = await outputs([...again(2), ...again(2, { a: 2 })]);
  const success = await outputs(again(4), { fails: (run) => run !== 3 });
  const changed = await outputs([...again(2), call("edit"), ...again(2)]);
  for (const all of [others, success, changed]) expect(told(all, /times in this turn/)).toEqual([]);
});

test("C10: the fifth result of an identical call and later ones say that it is the same; a changing result does not", async () => {
  const same = await outputs(again(7), { fails: () => false });
  expect(told(same, /same result \d times in this turn/)).toEqual([5, 6, 7]);
  expect(same[6]).toMatch(/^it is so\n\n\[.*same result 7 times/);
  const other = await outputs(again(7), { fails: () => false, says: (run) => `${run}` });
  expect(told(other, /times in this turn/)).toEqual([]);
});

test("C10: a repeated call is recognised between any number of others", () => {
  const repeats = new Repeats();
  const times: number[] = [];
  for (let step = 0; step < 2_000; step++) {
    const one = {
      tool: "act",
      input: { a: step % 50 === 0 ? "again" : step },
      status: "completed",
      output: "so",
    } as const;
    const counted = repeats.count(one, `message ${step}`);
    if (step % 50 === 0) times.push(counted);
  }
  expect(times).toEqual(times.map((_, index) => index + 1));
});

describe("C10: a call with the same result ten times is a limit of the turn", () => {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "none",
    execute: () => "nothing",
  });
  /** Repeats one call until calls are forbidden. */
  const stubborn = (limits: Limits) =>
    new Agent({
      model: scriptedModel(({ toolChoice }) => [toolChoice === "none" ? text("I am stuck.") : call("look", { a: 1 })]),
      tools: [look],
      limits,
    });
  const runsOf = (session: Session) =>
    [...session.state.messages.values()].flatMap((message) => (message.role === "assistant" ? message.calls : []))
      .length;

  test.each([
    [{}, 10],
    [{ repeats: 3 }, 3],
  ])("with %o, the turn ends there with a last answer that names the limit", async (limits, times) => {
    const session = Session.inMemory();
    const turn = await stubborn(limits).send("Go", { session });
    expect(turn).toMatchObject({
      reason: "limit",
      limit: `the limit of ${times} repetitions of the same call`,
      text: "I am stuck.",
    });
    expect(runsOf(session)).toBe(times);
  });

  test("a user may allow the same number again", async () => {
    const session = Session.inMemory();
    const asked: string[] = [];
    for await (const item of stubborn({ policy: "ask", repeats: 4 }).chat(say("Go"), { session })) {
      if (item.type !== "run.paused") continue;
      asked.push(item.reason);
      await session.answer(item.question, { decision: asked.length === 1 ? "allow" : "deny" });
    }
    expect(asked).toEqual([
      "The turn reached the limit of 4 repetitions of the same call.",
      "The turn reached the limit of 8 repetitions of the same call.",
    ]);
    expect(runsOf(session)).toBe(8);
  });
});

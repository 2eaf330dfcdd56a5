import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { defineTool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { type Beat, call, rawCall, scriptedModel } from "../testing/scripted-model.ts";

/** What the calls of a turn came to, in order; `fails` says of each run of the tool whether it does. */
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

test("B67: from the third time on the result of an identical failing call says so, whatever else was called between", async () => {
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

test("C10: from the fifth time on the result of an identical call says that it is the same; one that changes never does", async () => {
  const same = await outputs(again(7), { fails: () => false });
  expect(told(same, /same result \d times in this turn/)).toEqual([5, 6, 7]);
  expect(same[6]).toMatch(/^it is so\n\n\[.*same result 7 times/);
  const other = await outputs(again(7), { fails: () => false, says: (run) => `${run}` });
  expect(told(other, /times in this turn/)).toEqual([]);
});

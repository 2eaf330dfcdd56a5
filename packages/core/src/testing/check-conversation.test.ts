import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AssistantMessage } from "../conversation/message.ts";
import type { ConversationState, Mutable, MutableState } from "../conversation/state.ts";
import { defineTool } from "../ports/define-tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "./check-conversation.ts";
import { call, scriptedModel, text } from "./scripted-model.ts";

/** A conversation with a call and a waiting input. */
async function conversation(): Promise<ConversationState> {
  const session = Session.inMemory();
  const look = defineTool({
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => "seen",
  });
  const model = scriptedModel([[text("Looking."), call("look")], "Seen."], { price: { input: 1, output: 1 } });
  await new Agent({ model, tools: [look] }).send("Look", { session });
  await session.say([{ type: "text", text: "later" }]);
  return structuredClone(session.state);
}

type Answer = Mutable<AssistantMessage>;

test("a whole conversation without a running turn has no problems", async () => {
  expect(checkConversation(await conversation())).toEqual([]);
});

test.each<[string, RegExp, (state: MutableState, ids: readonly string[], answer: Answer) => void]>([
  ["a run that has not ended", /^Run r has not ended/, (state) => state.runs.set("r", {} as never)],
  [
    "a question that is open",
    /^Question q about call c is open/,
    (state) => state.questions.set("q", { type: "approval", id: "q", message: "m", call: "c" }),
  ],
  ["a parent that is gone", /has no parent/, (state, [first = ""]) => state.messages.delete(first)],
  ["a message that hangs nowhere", /0 times among the children/, (state, [first = ""]) => state.children.delete(first)],
  [
    "a message that hangs twice",
    /2 times among the children/,
    (state, [first = "", answer = ""]) => state.children.get(first)?.push(answer),
  ],
  ["children of nobody", /Messages hang on nobody/, (state) => state.children.set("nobody", ["x"])],
  [
    "an empty list of children",
    /has a list of children without any/,
    (state, ids) => state.children.set(ids.at(-1) ?? "", []),
  ],
  ["an end that is nowhere", /goes on from nowhere/, (state) => (state.leaf = "nowhere")],
  ["an answer without an end", /has not ended/, (_, __, answer) => Reflect.deleteProperty(answer, "finish")],
  [
    "a call without a result",
    /Call call_1 of answer \w+ is executing/,
    (_, __, answer) => Object.assign(answer.calls[0] ?? {}, { status: "executing" }),
  ],
  [
    "an ended call that says nothing",
    /ended without a result/,
    (_, __, answer) => Reflect.deleteProperty(answer.calls[0] ?? {}, "output"),
  ],
  [
    "a call that is asked for and not listed",
    /asks for calls call_1 and lists \./,
    (_, __, answer) => (answer.calls = []),
  ],
  [
    "a call that is asked for twice",
    /A prompt shows calls call_1,call_1/,
    (_, __, answer) => (answer.parts = [...answer.parts, ...answer.parts]),
  ],
  ["a call that cannot be found", /is looked for in undefined/, (state) => state.calls.clear()],
  ["a text that waits twice", /waits twice/, (state) => state.inbox.push(...state.inbox)],
  [
    "a text that waits although it was delivered",
    /waits although it was delivered/,
    (state, [first = ""]) =>
      state.inbox.push({ id: first, parts: [], delivery: "steer", run: null, at: null, held: true }),
  ],
  [
    "usage that was not counted",
    /used 2 tokens \(input\), the conversation only 1/,
    (state) => (state.usage = { ...state.usage, input: 1 }),
  ],
  ["cost that was not counted", /dollars, the conversation only 0/, (state) => (state.cost = 0)],
])("%s is a problem", async (_, problem, spoil) => {
  const state = await conversation();
  const ids = [...state.messages.keys()];
  spoil(state as MutableState, ids, state.messages.get(ids[1] ?? "") as Answer);
  expect(checkConversation(state).join("\n")).toMatch(problem);
});

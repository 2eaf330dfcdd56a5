import { describe, expect, test } from "vitest";
import type { QuestionField } from "../../conversation/event.ts";
import type { Json } from "../../conversation/part.ts";
import { pathTo } from "../../conversation/tree/path.ts";
import { Session } from "../../session/session.ts";
import { checkConversation } from "../../testing/check-conversation.ts";
import { readUntil } from "../../testing/collect.ts";
import { call, type Script, scriptedModel } from "../../testing/scripted-model.ts";
import { Agent, type AgentOptions } from "../agent.ts";
import { say } from "../directive.ts";
import { askClient } from "./ask-client.ts";

const red = { label: "red", description: "as a brick" };
const questions: Json[] = [
  { heading: "Colour", question: "Which one?", choices: [red, { label: "blue" }] },
  { heading: "Sizes", question: "Which of them?", choices: [{ label: "small" }, { label: "huge" }], several: true },
];
const fields: QuestionField[] = [
  { heading: "Colour", text: "Which one?", choices: [red, { label: "blue" }] },
  { heading: "Sizes", text: "Which of them?", choices: [{ label: "small" }, { label: "huge" }], several: true },
];
const asks = [call("ask_client", { question: "How shall it look?", questions })];

function chatting(script: Script, options: Partial<AgentOptions> = {}) {
  const session = Session.inMemory();
  return { session, agent: new Agent({ model: scriptedModel(script), tools: [askClient()], ...options }) };
}

/** Status and output of the calls on the current branch. */
function calls({ state }: Session) {
  const answers = pathTo(state, state.leaf).flatMap((message) => (message.role === "assistant" ? message.calls : []));
  return answers.map(({ status, output }) => [status, output]);
}

describe("C12: the model asks with choices in a chat", () => {
  test("clients can answer several questions at once; the log has the first answer, and the other client learns so", async () => {
    const { session, agent } = chatting([asks, "Thanks."]);
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    const asked = await readUntil(chat, (item) => item.type === "question.asked");
    if (asked.type !== "question.asked") throw new Error("no question");
    expect(asked).toMatchObject({ text: "How shall it look?", fields });
    expect(session.state.questions.get(asked.question)).toMatchObject({ type: "text", fields });
    const first = session.answer(asked.question, { decision: "answer", text: "Colour: red\nSizes: small" });
    await expect(session.answer(asked.question, { decision: "answer", text: "blue" })).rejects.toThrow(
      "It may have been answered",
    );
    await first;
    const answered = await readUntil(chat, (item) => item.type === "question.answered");
    expect(answered).toMatchObject({ question: asked.question, text: "Colour: red\nSizes: small" });
    await readUntil(chat, (item) => item.type === "chat.ended");
    expect(calls(session)).toEqual([["completed", "Colour: red\nSizes: small"]]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("without a user, the model learns so at once, or gets the default", async () => {
    const withDefault = call("ask_client", { question: "How?", questions, default_answer: "red" });
    const { session, agent } = chatting([[...asks, withDefault], "Then I decide."], { unattended: true });
    await agent.send("Go", { session });
    expect(calls(session)).toEqual([
      [
        "failed",
        "The tool failed: No user can be asked here, and the question has no default answer. Decide yourself.",
      ],
      ["completed", "red"],
    ]);
  });

  test.each<[Json, string]>([
    [{ question: "How?", questions: [] }, "The tool failed: Ask 1 to 4 questions at once, not 0."],
    [
      { question: "How?", questions: [{ heading: "Colour", question: "Which?", choices: [] }] },
      'The tool failed: Give the question "Colour" 2 to 12 choices, not 0.',
    ],
    [{ question: " " }, "The tool failed: The question must not be empty."],
    [{ question: "a\u0007b" }, "The tool failed: The question must not contain control characters."],
  ])("a call without an answerable question asks nobody, and gets one sentence: %j", async (input, problem) => {
    const { session, agent } = chatting([[call("ask_client", input)], "Well."]);
    await agent.send("Go", { session });
    expect(calls(session)).toEqual([["failed", problem]]);
    expect(session.state.questions.size).toBe(0);
  });
});

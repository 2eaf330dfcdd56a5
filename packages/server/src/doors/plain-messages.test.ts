import { Agent, defineTool, Session, say } from "@banyan/core";
import type { UserPart } from "@banyan/core/conversation";
import { call, reasoning, scriptedModel, text } from "@banyan/core/testing";
import {
  convertToModelMessages,
  generateText,
  type ModelMessage,
  type UIMessage,
  type UserModelMessage,
  validateUIMessages,
} from "ai";
import { MockLanguageModelV4 } from "ai/test";
import type OpenAI from "openai";
import { expect, test } from "vitest";

const DATA = "iVBORw0KGgoAAAANSUhEUg==";
const parts: readonly UserPart[] = [
  { type: "text", text: "What is this?" },
  { type: "file", mediaType: "image/png", name: "oak.png", data: DATA },
];

test("F75: messages typed by the AI SDK and by OpenAI's client are said as they are", async () => {
  const url = `data:image/png;base64,${DATA}`;
  const ofPage: UIMessage = {
    id: "m1",
    role: "user",
    parts: [
      { type: "text", text: "What is this?" },
      { type: "file", mediaType: "image/png", filename: "oak.png", url },
    ],
  };
  const ofModel: UserModelMessage = {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "file", mediaType: "image/png", filename: "oak.png", data: Buffer.from(DATA, "base64") },
    ],
  };
  const ofOpenAi: OpenAI.ChatCompletionUserMessageParam = {
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "file", file: { filename: "oak.png", file_data: url } },
    ],
  };
  const [converted] = await convertToModelMessages([ofPage]);
  if (converted?.role !== "user") throw new Error("The SDK gave no user message.");
  for (const message of [ofPage, ofModel, ofOpenAi, converted]) expect(say(message)).toEqual({ type: "say", parts });
});

test("L5: the AI SDK takes a conversation from Banyan, and its model gets the same from both forms", async () => {
  const look = defineTool({
    name: "look",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: (input, { attach }) => {
      if (JSON.stringify(input) === "{}") throw new Error("no light");
      attach({ mediaType: "image/png", data: DATA });
      return "a tree";
    },
  });
  const script = [
    [reasoning("Hm."), text("I look."), call("look", { at: "a" }, "a"), call("look", {}, "b")],
    "An oak.",
  ];
  const session = Session.inMemory();
  await new Agent({ model: scriptedModel(script), tools: [look] }).send(parts, { session });
  const uiMessages: UIMessage[] = await validateUIMessages({ messages: await session.toMessages("ai-sdk-ui") });
  const converted = await convertToModelMessages(uiMessages);
  const modelMessages: ModelMessage[] = await session.toMessages("ai-sdk");
  for (const messages of [modelMessages, converted]) {
    const model = new MockLanguageModelV4({
      doGenerate: {
        content: [{ type: "text", text: "Yes." }],
        finishReason: { unified: "stop", raw: "stop" },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      },
    });
    const { text: answer } = await generateText({ model, messages: [...messages, { role: "user", content: "Sure?" }] });
    expect(answer).toBe("Yes.");
    const prompt = JSON.stringify(model.doGenerateCalls[0]?.prompt);
    expect(prompt).toMatch(
      /What is this\?.*oak\.png.*Hm\..*I look\..*a tree.*iVBORw0KGgo.*no light.*An oak\..*Sure\?/s,
    );
  }
});

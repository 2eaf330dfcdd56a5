import { say } from "@banyan/core";
import type { UserPart } from "@banyan/core/conversation";
import { convertToModelMessages, type UIMessage, type UserModelMessage } from "ai";
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

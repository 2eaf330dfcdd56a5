import { Agent, defineTool, pathTo, Session } from "@banyan/core";
import { call, parts, reasoning, scriptedModel, text } from "@banyan/core/testing";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { describe, expect, expectTypeOf, test } from "vitest";
import { type OpenAIMessage, toOpenAIMessages } from "./messages.ts";

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: (input) => `seen ${JSON.stringify(input)}`,
});

/** A program that only uses the types of the `openai` package. */
function transcript(messages: readonly ChatCompletionMessageParam[]): string[] {
  return messages.map((message) => {
    switch (message.role) {
      case "user": {
        const content = typeof message.content === "string" ? message.content : message.content.map(({ type }) => type);
        return `user: ${content}`;
      }
      case "assistant": {
        const calls = message.tool_calls?.map((made) =>
          made.type === "function" ? `${made.id} ${made.function.name}(${made.function.arguments})` : made.type,
        );
        return `assistant: ${[message.content, ...(calls ?? [])].join(" ")}`;
      }
      case "tool":
        return `tool ${message.tool_call_id}: ${message.content}`;
      default:
        return message.role;
    }
  });
}

describe("a conversation for OpenAI's own client", () => {
  test("the types are the ones of the openai package", () => {
    expectTypeOf<OpenAIMessage[]>().toExtend<ChatCompletionMessageParam[]>();
    expectTypeOf<Extract<OpenAIMessage, { role: "assistant" }>>().toExtend<ChatCompletionAssistantMessageParam>();
  });

  test("a program for those types reads texts, calls, and one result for each call", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([
      [reasoning("Hm."), text("Let me look."), call("look", { at: "a" }, "call_a"), call("fly", {}, "call_b")],
      [call("look", { at: "b" }, "call_c")],
      "A fig tree.",
    ]);
    await new Agent({ model, tools: [look] }).send("What is there?", { session });
    const messages: ChatCompletionMessageParam[] = toOpenAIMessages(pathTo(session.state, session.state.leaf));
    expect(transcript(messages)).toEqual([
      "user: What is there?",
      'assistant: Let me look. call_a look({"at":"a"}) call_b fly({})',
      'tool call_a: seen {"at":"a"}',
      'tool call_b: There is no tool "fly". There are: look.',
      'assistant:  call_c look({"at":"b"})',
      'tool call_c: seen {"at":"b"}',
      "assistant: A fig tree.",
    ]);
  });

  test("files become images and files; content without a place in the format is left out", async () => {
    const session = Session.inMemory();
    const provider = { acme: { part: {} } };
    const model = scriptedModel([
      [
        parts({ type: "provider", text: "searched", provider }, { type: "source", url: "https://a.example/" }),
        text("Figs."),
      ],
    ]);
    await new Agent({ model }).send(
      [
        { type: "text", text: "What is it?" },
        { type: "file", mediaType: "image/png", data: "AA==" },
        { type: "file", mediaType: "application/pdf", name: "a.pdf", data: "AA==" },
      ],
      { session },
    );
    const messages = toOpenAIMessages(pathTo(session.state, session.state.leaf));
    expect(transcript(messages)).toEqual(["user: text,image_url,file", "assistant: Figs."]);
    expect(messages[0]).toEqual({
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
      ],
    });
    expect(messages[1]).toEqual({ role: "assistant", content: "Figs." });
  });

  test("the messages are plain data", async () => {
    const session = Session.inMemory();
    await new Agent({ model: scriptedModel(["Hi"]) }).send("Hello", { session });
    const messages = toOpenAIMessages(pathTo(session.state, session.state.leaf));
    expect(JSON.parse(JSON.stringify(messages))).toEqual(messages);
  });
});

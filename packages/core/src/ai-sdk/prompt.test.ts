import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { ModelRequest, PromptMessage } from "../ports/model.ts";
import { fromLanguageModel } from "./language-model.ts";
import { finish, model, never, Recorder, request } from "./provider.fixture.ts";
import { streamOf } from "./stream-of.fixture.ts";

describe("the request", () => {
  const conversation: readonly PromptMessage[] = [
    {
      role: "user",
      parts: [
        { type: "text", text: "look" },
        { type: "file", mediaType: "image/png", name: "a.png", data: "AA==" },
        { type: "file", mediaType: "image/*", url: "https://example.org/b.png" },
      ],
    },
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "hm", provider: { anthropic: { signature: "sig" } } },
        { type: "reasoning", text: "", provider: { anthropic: { redactedData: "zz" } } },
        { type: "text", text: "" },
        { type: "text", text: "reading", provider: { openai: { itemId: "msg_1" } } },
        { type: "call", id: "c1", tool: "read", input: { path: "a" }, provider: { openai: { itemId: "fc_1" } } },
        { type: "call", id: "c2", tool: "read", input: { path: "b" } },
      ],
      results: [
        { call: "c1", tool: "read", output: "A", failed: false },
        { call: "c2", tool: "read", output: "no such file", failed: true },
      ],
    },
  ];
  const tools = [{ name: "read", description: "Reads a file.", input: { type: "object" } }];

  async function asked(more: Partial<ModelRequest>): Promise<LanguageModelV4CallOptions> {
    const large = model(() => streamOf([finish]));
    await fromLanguageModel(large).stream({ ...request, ...more }, new Recorder(), never());
    return large.asked[0] as LanguageModelV4CallOptions;
  }

  test("messages, with their files, signatures, calls and results", async () => {
    const { prompt } = await asked({ instructions: "Be brief.", messages: conversation });
    expect(prompt).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "data", data: "AA==" } },
          { type: "file", mediaType: "image/*", data: { type: "url", url: new URL("https://example.org/b.png") } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "sig" } } },
          { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "zz" } } },
          { type: "text", text: "reading", providerOptions: { openai: { itemId: "msg_1" } } },
          {
            type: "tool-call",
            toolCallId: "c1",
            toolName: "read",
            input: { path: "a" },
            providerOptions: { openai: { itemId: "fc_1" } },
          },
          { type: "tool-call", toolCallId: "c2", toolName: "read", input: { path: "b" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "text", value: "A" } },
          {
            type: "tool-result",
            toolCallId: "c2",
            toolName: "read",
            output: { type: "error-text", value: "no such file" },
          },
        ],
      },
    ]);
  });

  test("an answer that broke off keeps its signatures but names no item: the provider stored none", async () => {
    const { prompt } = await asked({
      messages: [
        {
          role: "assistant",
          unfinished: true,
          parts: [
            { type: "reasoning", text: "hm", provider: { anthropic: { signature: "sig" } } },
            { type: "reasoning", text: "", provider: { openai: { itemId: "rs_1", reasoningEncryptedContent: "x9" } } },
            { type: "text", text: "read", provider: { openai: { itemId: "msg_1" } } },
            { type: "call", id: "c1", tool: "read", input: {}, provider: { openai: { itemId: "fc_1" } } },
          ],
          results: [{ call: "c1", tool: "read", output: "Not executed.", failed: true }],
        },
      ],
    });
    expect(prompt[0]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "sig" } } },
        { type: "text", text: "read" },
        { type: "tool-call", toolCallId: "c1", toolName: "read", input: {} },
      ],
    });
  });

  test("absent values are not sent", async () => {
    expect(Object.keys(await asked({})).sort()).toEqual(["abortSignal", "includeRawChunks", "prompt"]);
  });

  test("settings under the AI SDK's names", async () => {
    const providerOptions = { acme: { verbose: true } };
    const options = await asked({
      settings: { temperature: 0, maxTokens: 9, stop: ["END"], effort: "max", providerOptions },
    });
    expect(options).toMatchObject({
      temperature: 0,
      maxOutputTokens: 9,
      stopSequences: ["END"],
      reasoning: "max",
      providerOptions,
    });
  });

  test("tools stay when none may be called", async () => {
    expect(await asked({ tools, toolChoice: "none" })).toMatchObject({
      tools: [{ type: "function", name: "read", description: "Reads a file.", inputSchema: { type: "object" } }],
      toolChoice: { type: "none" },
    });
  });

  test("a message and the tools are converted once for any number of requests", async () => {
    const first = await asked({ messages: conversation, tools });
    const second = await asked({ messages: [...conversation, ...request.messages], tools });
    expect(second.tools).toBe(first.tools);
    for (const index of [0, 1, 2]) expect(second.prompt[index]).toBe(first.prompt[index]);
    expect(second.prompt).toHaveLength(4);
  });

  test("a file without bytes and address is refused before anything is sent", async () => {
    const messages: PromptMessage[] = [
      { role: "user", parts: [{ type: "file", mediaType: "text/plain", name: "a.txt" }] },
    ];
    await expect(asked({ messages })).rejects.toMatchObject({
      code: "invalid-request",
      message: expect.stringContaining("a.txt"),
    });
  });
});

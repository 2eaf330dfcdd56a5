import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import type { ModelDriver } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import type { ModelPart, PromptMessage } from "@banyan/core/drivers";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { deadAddress, serve, streamed } from "./testing/server.ts";
import { answerOf, KeepingSink, say } from "./testing/sink.ts";

const mock = new LLMock({ port: 0, logLevel: "silent" });
beforeAll(() => mock.start());
afterAll(() => mock.stop());
beforeEach(() => mock.reset());

const tools = [
  {
    name: "read",
    description: "Reads a file.",
    input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
];

/** The request bodies on the wire; the mock's own journal only has what all formats share. */
const sent: string[] = [];
const keepingFetch: typeof fetch = (address, init) => {
  sent.push(String(init?.body));
  return fetch(address, init);
};

const anthropic = (baseURL = mock.url): ModelDriver =>
  fromLanguageModel(
    createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: "test", fetch: keepingFetch })("claude-sonnet-4-5"),
  );
const openai = (baseURL = mock.url): ModelDriver =>
  fromLanguageModel(createOpenAI({ baseURL: `${baseURL}/v1`, apiKey: "test", fetch: keepingFetch }).responses("gpt-5"));

const formats = [
  { format: "Anthropic messages", driver: anthropic, id: "anthropic/claude-sonnet-4-5" },
  { format: "OpenAI responses", driver: openai, id: "openai/gpt-5" },
];

const textOf = (parts: readonly ModelPart[]) => parts.map((part) => (part.type === "text" ? part.text : "")).join("");
const callsOf = (parts: readonly ModelPart[]) =>
  parts.flatMap((part) => {
    if (part.type !== "call") return [];
    const input = parts.map((other) => (other.type === "call-input" && other.index === part.index ? other.text : ""));
    return [{ id: part.id, tool: part.tool, input: JSON.parse(input.join("")) }];
  });

/** The answer as the loop gives it back to the model. */
function answered(parts: readonly ModelPart[], ...outputs: string[]): Extract<PromptMessage, { role: "assistant" }> {
  const said: Extract<PromptMessage, { role: "assistant" }>["parts"][number][] = [];
  let block: { type: "text" | "reasoning"; text: string } | undefined;
  for (const part of parts) {
    if (part.type === "text" || part.type === "reasoning") {
      block =
        block?.type === part.type ? { ...block, text: block.text + part.text } : { type: part.type, text: part.text };
    } else if (part.type === "part-end" && block) {
      said.push(part.provider ? { ...block, provider: part.provider } : block);
      block = undefined;
    } else if (part.type === "call-end") {
      const call = callsOf(parts)[part.index]!;
      said.push({ type: "call", ...call, ...(part.provider && { provider: part.provider }) });
    }
  }
  const results = callsOf(parts).map(({ id, tool }, index) => {
    const output = outputs[index] ?? "";
    return { call: id, tool, output, failed: false };
  });
  return { role: "assistant", parts: said, results };
}

async function failureOf(driver: ModelDriver, signal?: AbortSignal): Promise<unknown> {
  return answerOf(driver, say("hello"), signal).then(
    () => expect.unreachable("it did not fail"),
    (error: unknown) => error,
  );
}

describe.each(formats)("over HTTP, $format", ({ driver: open, id }) => {
  test("the model's id is its provider and its name", () => {
    expect(open().id).toBe(id);
  });

  test("plain text, with usage", async () => {
    mock.onMessage("hello", { content: "Good morning to you", usage: { input_tokens: 11, output_tokens: 4 } });
    const parts = await answerOf(open(), say("hello", { instructions: "Be brief." }));
    expect(textOf(parts)).toBe("Good morning to you");
    expect(parts.at(-1)).toMatchObject({ type: "finish", reason: "stop", usage: { input: 11, output: 4, cached: 0 } });
    expect(sent.at(-1)).toContain("Be brief.");
  });

  test("two parallel calls of the same tool, and their results in the next request", async () => {
    mock.on(
      { userMessage: "both", hasToolResult: false },
      {
        toolCalls: [
          { id: "call_1", name: "read", arguments: '{"path":"a.txt"}' },
          { id: "call_2", name: "read", arguments: '{"path":"b.txt"}' },
        ],
      },
    );
    mock.on({ userMessage: "both", hasToolResult: true }, { content: "Read." });
    const driver = open();
    const request = say("both", { tools });
    const first = await answerOf(driver, request);
    expect(callsOf(first)).toEqual([
      { id: "call_1", tool: "read", input: { path: "a.txt" } },
      { id: "call_2", tool: "read", input: { path: "b.txt" } },
    ]);
    expect(first.at(-1)).toMatchObject({ reason: "calls" });

    const messages = [...request.messages, answered(first, "the text of a", "the text of b")];
    const second = await answerOf(driver, { ...request, messages });
    expect(textOf(second)).toBe("Read.");
    expect(sent.at(-1)).toContain("the text of a");
    expect(sent.at(-1)).toContain("the text of b");
  });

  test("reasoning is separate from the text", async () => {
    mock.onMessage("think", { content: "42", reasoning: "six times seven" });
    const parts = await answerOf(open(), say("think", { settings: { effort: "low" } }));
    expect(parts.map((part) => (part.type === "reasoning" ? part.text : "")).join("")).toBe("six times seven");
    expect(textOf(parts)).toBe("42");
  });

  test("a cut stream is broken, and its text is kept (F16)", async () => {
    mock.onMessage("hello", { content: "one two three four five six seven" }, { chunkSize: 4, truncateAfterChunks: 5 });
    const sink = new KeepingSink();
    await expect(open().stream(say("hello"), sink, new AbortController().signal)).rejects.toMatchObject({
      name: "ModelError",
      code: "broken-stream",
    });
    expect(sink.parts.some((part) => part.type === "finish")).toBe(false);
    expect("one two three four five six seven").toContain(textOf(sink.parts));
  });

  test.each([
    [401, "bad key", "authentication"],
    [404, "no such model", "unknown-model"],
    [429, "slow down", "rate-limit"],
    [400, "prompt is too long: the context length is 200000 tokens", "context-overflow"],
    [400, "temperature is wrong", "invalid-request"],
    [529, "overloaded", "overloaded"],
    [500, "oops", "provider"],
  ])("an answer of %i, %s, is the error %s (F14)", async (status, message, code) => {
    mock.nextRequestError(status, { message });
    expect(await failureOf(open())).toMatchObject({
      name: "ModelError",
      code,
      status,
      message: expect.stringContaining(message),
    });
  });

  test("the driver sends a request once, and the loop decides about a retry", async () => {
    mock.nextRequestError(503);
    mock.onMessage("hello", { content: "hi" });
    await failureOf(open());
    expect(mock.getRequests()).toHaveLength(1);
  });

  test("the error for an address without a server names the address", async () => {
    const dead = (await deadAddress()).replace(/\/v1$/, "");
    const error = await failureOf(open(dead));
    expect(error).toMatchObject({ code: "unreachable", message: expect.stringContaining(new URL(dead).host) });
  });

  test("B22: an interruption in the middle of the stream ends it with its reason", async () => {
    mock.onMessage("hello", { content: "word ".repeat(1000) }, { chunkSize: 5, streamingProfile: { tps: 50 } });
    const control = new AbortController();
    const sink = new KeepingSink();
    const answer = open().stream(say("hello"), sink, control.signal);
    await expect.poll(() => sink.batches.length, { timeout: 5000 }).toBeGreaterThan(0);
    control.abort("enough");
    await expect(answer).rejects.toBe("enough");
  });
});

describe("content that the provider needs again", () => {
  test("Anthropic's signature of the thinking, and thinking that is encrypted, are given back word for word", async () => {
    mock.on(
      { userMessage: "think", hasToolResult: false },
      {
        toolCalls: [{ id: "toolu_1", name: "read", arguments: '{"path":"a.txt"}' }],
        reasoning: "I should read it",
        reasoningSignature: "c2lnbmF0dXJl",
        redactedThinking: ["aGlkZGVu"],
      },
    );
    mock.on({ userMessage: "think", hasToolResult: true }, { content: "done" });
    const driver = anthropic();
    const settings = { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } } };
    const request = say("think", { tools, settings });
    const first = await answerOf(driver, request);
    await answerOf(driver, { ...request, messages: [...request.messages, answered(first, "text")] });
    const { messages } = JSON.parse(sent.at(-1) ?? "") as { messages: { content: unknown[] }[] };
    expect(messages[1]?.content).toEqual([
      { type: "redacted_thinking", data: "aGlkZGVu" },
      { type: "thinking", thinking: "I should read it", signature: "c2lnbmF0dXJl" },
      expect.objectContaining({ type: "tool_use", id: "toolu_1", input: { path: "a.txt" } }),
    ]);
  });

  test("OpenAI's item ids are given back with the parts that they belong to", async () => {
    mock.on(
      { userMessage: "think", hasToolResult: false },
      { toolCalls: [{ id: "call_1", name: "read", arguments: '{"path":"a.txt"}' }], reasoning: "I should read it" },
    );
    mock.on({ userMessage: "think", hasToolResult: true }, { content: "done" });
    const driver = openai();
    const request = say("think", { tools });
    const first = await answerOf(driver, request);
    const reasoning = first.find((part) => part.type === "part-end");
    const item = (reasoning as { provider?: { openai?: { itemId?: string } } }).provider?.openai?.itemId;
    expect(item).toMatch(/^rs/);
    await answerOf(driver, { ...request, messages: [...request.messages, answered(first, "text")] });
    expect(sent.at(-1)).toContain(item);
  });

  test("OpenAI's encrypted reasoning is given back word for word, though it has no text to show", async () => {
    const reasoning = { id: "rs_1", type: "reasoning", summary: [] };
    const call = { id: "fc_1", type: "function_call", call_id: "call_1", name: "read", status: "completed" };
    await using server = await serve((_, response) =>
      streamed(
        response,
        { type: "response.created", response: { id: "resp_1", created_at: 1, model: "gpt-5" } },
        { type: "response.output_item.added", output_index: 0, item: reasoning },
        {
          type: "response.output_item.done",
          output_index: 0,
          item: { ...reasoning, encrypted_content: "ZW5jcnlwdGVk" },
        },
        { type: "response.output_item.added", output_index: 1, item: { ...call, arguments: "" } },
        { type: "response.output_item.done", output_index: 1, item: { ...call, arguments: '{"path":"a.txt"}' } },
        { type: "response.completed", response: { usage: { input_tokens: 5, output_tokens: 3 } } },
      ),
    );
    const driver = openai(server.baseURL.replace(/\/v1$/, ""));
    const request = say("think", { tools, settings: { providerOptions: { openai: { store: false } } } });
    const first = await answerOf(driver, request);
    expect(callsOf(first)).toEqual([{ id: "call_1", tool: "read", input: { path: "a.txt" } }]);
    await answerOf(driver, { ...request, messages: [...request.messages, answered(first, "text")] });
    const { input } = JSON.parse(sent.at(-1) ?? "") as { input: unknown[] };
    expect(input[1]).toMatchObject({ type: "reasoning", id: "rs_1", encrypted_content: "ZW5jcnlwdGVk" });
  });
});

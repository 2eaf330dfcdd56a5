import { ModelError } from "@banyan/core";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bodyOf, chunk, deadAddress, eventOf, serve, streamed } from "../testing/server.ts";
import { answerOf, KeepingSink, say } from "../testing/sink.ts";
import { openAIChat } from "./driver.ts";

function driverAt(baseURL: string, more: Partial<Parameters<typeof openAIChat>[0]> = {}) {
  return openAIChat({ id: "openai-chat/m", model: "m", baseURL, ...more });
}

async function failure(answer: Promise<unknown>): Promise<ModelError> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

const never = new AbortController().signal;

describe("against the mock of the provider", () => {
  const mock = new LLMock({ port: 0, chunkSize: 4 });
  beforeAll(() => mock.start());
  afterAll(() => mock.stop());
  afterEach(() => {
    mock.clearFixtures();
    mock.clearRequests();
  });
  const driver = () => driverAt(`${mock.url}/v1`, { apiKey: "sk-secret-key", keyVariable: "OPENAI_API_KEY" });

  test("text, with its usage", async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };
    mock.onMessage("hello", { content: "Hi there, world!", usage });
    expect(await answerOf(driver(), say("hello"))).toEqual([
      { type: "text", text: "Hi there, world!" },
      { type: "finish", reason: "stop", usage: { input: 11, cached: 0, cacheWrite: 0, output: 5, reasoning: 0 } },
    ]);
  });

  test("reasoning before text", async () => {
    mock.onMessage("hello", { content: "Hi", reasoning: "They greet me." });
    expect((await answerOf(driver(), say("hello"))).slice(0, 3)).toEqual([
      { type: "reasoning", text: "They greet me." },
      { type: "part-end", provider: { "openai-chat": { field: "reasoning_content" } } },
      { type: "text", text: "Hi" },
    ]);
  });

  test("text with two calls of the same tool", async () => {
    const toolCalls = [
      { id: "call_a", name: "read", arguments: '{"path":"a.txt"}' },
      { id: "call_b", name: "read", arguments: '{"path":"b.txt"}' },
    ];
    mock.onMessage("look", { content: "Looking.", toolCalls });
    expect(await answerOf(driver(), say("look"))).toEqual([
      { type: "text", text: "Looking." },
      { type: "call", index: 0, id: "call_a", tool: "read" },
      { type: "call-input", index: 0, text: '{"path":"a.txt"}' },
      { type: "call-end", index: 0 },
      { type: "call", index: 1, id: "call_b", tool: "read" },
      { type: "call-input", index: 1, text: '{"path":"b.txt"}' },
      { type: "call-end", index: 1 },
      expect.objectContaining({ type: "finish", reason: "calls" }),
    ]);
  });

  test("the request carries the key, the tools and the results of calls", async () => {
    mock.onToolResult("call_a", { content: "It says X." });
    const tools = [{ name: "read", description: "Reads.", input: { type: "object" } }];
    const answer = await answerOf(
      driver(),
      say("", {
        instructions: "Be brief.",
        tools,
        messages: [
          { role: "user", parts: [{ type: "text", text: "look" }] },
          {
            role: "assistant",
            parts: [{ type: "call", id: "call_a", tool: "read", input: {} }],
            results: [{ call: "call_a", tool: "read", output: "X", failed: false }],
          },
        ],
      }),
    );
    expect(answer[0]).toEqual({ type: "text", text: "It says X." });
    const request = mock.getLastRequest();
    expect(request?.body).toMatchObject({
      tools: [{ function: { name: "read" } }],
      messages: [{ role: "system" }, { role: "user" }, { role: "assistant" }, { role: "tool", content: "X" }],
    });
    expect(request?.path).toBe("/v1/chat/completions");
  });

  test.each([
    [401, { message: "Incorrect API key provided" }, { code: "authentication", retryable: false }],
    [403, { message: "Country not supported" }, { code: "authentication", retryable: false }],
    [
      404,
      { message: "The model does not exist", code: "model_not_found" },
      { code: "unknown-model", retryable: false },
    ],
    [400, { message: "Bad temperature" }, { code: "invalid-request", retryable: false }],
    [400, { message: "x", code: "context_length_exceeded" }, { code: "context-overflow", retryable: false }],
    [
      400,
      { message: "This model's maximum context length is 9 tokens" },
      { code: "context-overflow", retryable: false },
    ],
    [402, { message: "Pay" }, { code: "quota", retryable: false }],
    [
      429,
      { message: "You exceeded your current quota", code: "insufficient_quota" },
      { code: "quota", retryable: false },
    ],
    [429, { message: "Slow down" }, { code: "rate-limit", retryable: true, retryAfter: 7000 }],
    [500, { message: "Oops" }, { code: "provider", retryable: true }],
    [503, { message: "Busy" }, { code: "overloaded", retryable: true }],
    [529, { message: "Busy" }, { code: "overloaded", retryable: true }],
  ])("F14: the status %i with %j has its own error", async (status, error, expected) => {
    mock.onMessage("hello", { error, status, retryAfter: 7 });
    expect(await failure(answerOf(driver(), say("hello")))).toMatchObject({ status, ...expected });
  });

  test("an error names the model and the address, and keeps the provider's own words", async () => {
    mock.onMessage("hello", { error: { message: "No such model here" }, status: 404 });
    const { message } = await failure(answerOf(driver(), say("hello")));
    expect(message).toContain("openai-chat/m");
    expect(message).toContain(new URL(mock.url).host);
    expect(message).toContain("No such model here");
  });

  test("a cut stream keeps its content and reports the break", async () => {
    mock.onMessage(
      "hello",
      { content: "A long answer that is cut somewhere." },
      { truncateAfterChunks: 4, latency: 10 },
    );
    const sink = new KeepingSink();
    const error = await failure(driver().stream(say("hello"), sink, never));
    expect(error).toMatchObject({ code: "broken-stream", retryable: true });
    expect(sink.parts).toHaveLength(1);
    expect("A long answer that is cut somewhere.").toContain((sink.parts[0] as { text: string }).text);
  });
});

describe("against any server", () => {
  test("a refused key is never seen in the error, its variable is", async () => {
    await using server = await serve((request, response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `Bad key: ${request.headers.authorization}` } }));
    });
    const driver = driverAt(server.baseURL, { apiKey: "sk-secret-key", keyVariable: "MY_KEY" });
    const error = await failure(answerOf(driver, say("x")));
    expect(error.message).toContain("MY_KEY");
    expect(error.message).toContain("Bad key");
    expect(`${error.message} ${error.cause}`).not.toContain("sk-secret-key");
  });

  test.each([
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  ])("F14: %j is a wait of %i ms", async (headers, wait) => {
    await using server = await serve((_, response) => response.writeHead(429, headers).end());
    expect(await failure(answerOf(driverAt(server.baseURL), say("x")))).toMatchObject({ retryAfter: wait });
  });

  test("F14: Retry-After may be a date", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(503, { "retry-after": new Date(Date.now() + 60_000).toUTCString() }).end();
    });
    const { retryAfter } = await failure(answerOf(driverAt(server.baseURL), say("x")));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60_000);
  });

  test("F14: an overload in the stream is reported after the content before it", async () => {
    await using server = await serve((_, response) =>
      streamed(response, chunk({ content: "Hel" }), { error: { message: "Overloaded", type: "overloaded_error" } }),
    );
    const sink = new KeepingSink();
    const error = await failure(driverAt(server.baseURL).stream(say("x"), sink, never));
    expect(error).toMatchObject({ code: "overloaded", retryable: true });
    expect(sink.parts).toEqual([{ type: "text", text: "Hel" }]);
  });

  test("an address without a server is unreachable, and the error names the address", async () => {
    const baseURL = await deadAddress();
    const error = await failure(answerOf(driverAt(baseURL), say("x")));
    expect(error).toMatchObject({ code: "unreachable", retryable: true });
    expect(error.message).toContain(new URL(baseURL).host);
  });

  test("an unknown host is unreachable", async () => {
    expect(await failure(answerOf(driverAt("http://nowhere.invalid/v1"), say("x")))).toMatchObject({
      code: "unreachable",
    });
  });

  test("a key that cannot be sent is an error without the key", async () => {
    const driver = driverAt(await deadAddress(), { apiKey: "sk-secret\nkey" });
    const error = await failure(answerOf(driver, say("x")));
    expect(error).toMatchObject({ code: "invalid-request" });
    expect(error.message).not.toContain("secret");
  });

  test("an answer in one piece of JSON is taken as well", async () => {
    const message = {
      role: "assistant",
      content: "Hi",
      tool_calls: [{ id: "a", function: { name: "x", arguments: "{}" } }],
    };
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" });
      response.end(
        JSON.stringify({
          choices: [{ message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 3, completion_tokens: 2 },
        }),
      );
    });
    expect(await answerOf(driverAt(server.baseURL), say("x"))).toEqual([
      { type: "text", text: "Hi" },
      { type: "call", index: 0, id: "a", tool: "x" },
      { type: "call-input", index: 0, text: "{}" },
      { type: "call-end", index: 0 },
      { type: "finish", reason: "calls", usage: { input: 3, cached: 0, cacheWrite: 0, output: 2, reasoning: 0 } },
    ]);
  });

  test("a web page is not an answer, and trying again is no use", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html></html>");
    });
    expect(await failure(answerOf(driverAt(server.baseURL), say("x")))).toMatchObject({
      code: "invalid-request",
      retryable: false,
    });
  });

  test("the address may end with a slash and have a query, headers can be added", async () => {
    const seen = Promise.withResolvers<unknown>();
    await using server = await serve((request, response) => {
      seen.resolve([request.url, request.headers["x-title"]]);
      streamed(response, chunk({ content: "A" }, "stop"), "[DONE]");
    });
    await answerOf(driverAt(`${server.baseURL}/?version=2`, { headers: { "x-title": "T" } }), say("x"));
    expect(await seen.promise).toEqual(["/v1/chat/completions?version=2", "T"]);
  });

  test("later additions to the messages are not sent", async () => {
    const sent = Promise.withResolvers<{ messages: unknown[] }>();
    await using server = await serve(async (request, response) => {
      sent.resolve(JSON.parse(await bodyOf(request)));
      streamed(response, chunk({ content: "A" }, "stop"), "[DONE]");
    });
    const request = say("x");
    const messages = [...request.messages];
    const answer = answerOf(driverAt(server.baseURL), { ...request, messages });
    messages.push(...request.messages);
    await answer;
    expect((await sent.promise).messages).toHaveLength(1);
  });

  test("F13: an answer that arrives byte by byte is the same", async () => {
    const text = [chunk({ reasoning_content: "Hm 🌱" }), chunk({ content: "Zażółć" }), chunk({}, "stop"), "[DONE]"];
    const bytes = Buffer.from(text.map(eventOf).join("").replaceAll("\n", "\r\n"));
    await using server = await serve(async (_, response) => {
      response.socket?.setNoDelay(true);
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of bytes) await new Promise((written) => response.write(Buffer.from([byte]), written));
      response.end();
    });
    expect(await answerOf(driverAt(server.baseURL), say("x"))).toEqual([
      { type: "reasoning", text: "Hm 🌱" },
      { type: "part-end", provider: { "openai-chat": { field: "reasoning_content" } } },
      { type: "text", text: "Zażółć" },
      expect.objectContaining({ type: "finish", reason: "stop" }),
    ]);
  });
});

test("the driver's constructor refuses an invalid address", () => {
  expect(() => driverAt("127.0.0.1:8080")).toThrow(/is not the address/);
});

test("price and context size are the driver's", () => {
  const price = { input: 1, output: 2 };
  expect(driverAt("http://127.0.0.1/v1", { price, contextSize: 8 })).toMatchObject({
    id: "openai-chat/m",
    family: "openai-chat",
    price,
    contextSize: 8,
  });
});

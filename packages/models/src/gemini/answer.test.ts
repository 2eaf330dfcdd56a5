import { ModelError } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { deadAddress, eventOf, serve } from "../testing/server.ts";
import { KeepingSink, say } from "../testing/sink.ts";
import { geminiContent } from "./driver.ts";
import { answersTo } from "./ways.fixture.ts";

const counts = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
const chunk = (parts: readonly object[] | undefined, more: object = {}, top: object = {}) =>
  eventOf({ candidates: [{ ...(parts && { content: { role: "model", parts } }), ...more }], ...top });
const end = (finishReason = "STOP", usageMetadata: object = counts) =>
  chunk(undefined, { finishReason }, { usageMetadata });
const signed = { thoughtSignature: "c2ln" };
const data = { google: signed };
const code = { executableCode: { language: "PYTHON", code: "print(1)" } };
const ran = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } };

const usage = { input: 10, cached: 0, cacheWrite: 0, output: 5, reasoning: 0 };
const finish = (reason: string, more: object = {}) => ({ type: "finish", reason, usage, ...more });
const yes = [{ type: "text", text: "Yes" }, { type: "part-end" }];

describe("an answer equals the result of the provider's package", () => {
  test.each<[name: string, stream: string, parts: readonly object[]]>([
    ["a text in pieces", chunk([{ text: "Ye" }]) + chunk([{ text: "s" }]) + end(), [...yes, finish("stop")]],
    [
      "everything in one chunk",
      chunk([{ text: "Yes" }], { finishReason: "STOP" }, { usageMetadata: counts }),
      [...yes, finish("stop")],
    ],
    [
      "chunks without candidates, content and parts",
      eventOf({ usageMetadata: counts }) +
        eventOf({ candidates: [] }) +
        eventOf({ candidates: [{ content: {} }] }) +
        chunk([{ text: "Yes" }]) +
        eventOf({ candidates: null }) +
        end(),
      [...yes, finish("stop")],
    ],
    [
      "thoughts, signed, then a text",
      chunk([{ text: "Hm", thought: true }]) +
        chunk([{ text: ".", thought: true, ...signed }]) +
        chunk([{ text: "Yes" }]) +
        end(),
      [{ type: "reasoning", text: "Hm." }, { type: "part-end", provider: data }, ...yes, finish("stop")],
    ],
    [
      "a signature behind its text, which goes on",
      chunk([{ text: "Ye" }]) + chunk([{ text: "", ...signed }]) + chunk([{ text: "s" }]) + end(),
      [{ type: "text", text: "Yes" }, { type: "part-end", provider: data }, finish("stop")],
    ],
    [
      "a signature behind thoughts, and one alone",
      chunk([{ text: "", ...signed }]) +
        chunk([{ text: "Hm", thought: true }]) +
        chunk([{ text: "", thought: true, ...signed }]) +
        end(),
      [
        { type: "text", text: "" },
        { type: "part-end", provider: data },
        { type: "reasoning", text: "Hm" },
        { type: "part-end" },
        { type: "reasoning", text: "" },
        { type: "part-end", provider: data },
        finish("stop"),
      ],
    ],
    [
      "calls at once, without arguments and with arguments as text",
      chunk([
        { text: "Yes" },
        { functionCall: { name: "look", args: { at: "x" }, id: "a" }, ...signed },
        { functionCall: { name: "look", args: {} } },
        { functionCall: { name: "look" } },
        { functionCall: { name: "look", args: '{"at":"y"}' } },
      ]) + end(),
      [
        ...yes,
        { type: "call", index: 0, id: "a", tool: "look" },
        { type: "call-input", index: 0, text: '{"at":"x"}' },
        { type: "call-end", index: 0, provider: data },
        ...["{}", "{}", '{"at":"y"}'].flatMap((text, at) => [
          { type: "call", index: at + 1, id: "", tool: "look" },
          { type: "call-input", index: at + 1, text },
          { type: "call-end", index: at + 1 },
        ]),
        finish("calls"),
      ],
    ],
    [
      "code that Google runs, within a text",
      chunk([{ text: "Yes" }]) + chunk([code]) + chunk([ran, { text: "Yes" }]) + end(),
      [
        ...yes,
        {
          type: "provider",
          text: 'code_execution {"language":"PYTHON","code":"print(1)"}',
          provider: {
            google: {
              part: {
                type: "tool-call",
                toolCallId: "random 0",
                toolName: "code_execution",
                input: code.executableCode,
                providerExecuted: true,
              },
            },
          },
        },
        {
          type: "provider",
          text: "code_execution answered",
          provider: {
            google: {
              part: {
                type: "tool-result",
                toolCallId: "random 0",
                toolName: "code_execution",
                output: { type: "json", value: ran.codeExecutionResult },
              },
            },
          },
        },
        ...yes,
        finish("stop"),
      ],
    ],
    [
      "sources, each once",
      chunk([{ text: "Ye" }]) +
        chunk([{ text: "s" }], {
          groundingMetadata: {
            groundingChunks: [
              { web: { uri: "https://a.example/", title: "A" } },
              { web: { uri: "https://a.example/", title: "A" } },
              { image: { sourceUri: "https://b.example/", imageUri: "https://b.example/i.png" } },
              { retrievedContext: { uri: "https://c.example/", title: "C" } },
              { retrievedContext: { uri: "gs://d/e.pdf", title: "E" } },
              { retrievedContext: { fileSearchStore: "stores/f", title: "F" } },
              { maps: { uri: "https://g.example/", title: "G" } },
              { maps: { title: "H" } },
            ],
          },
        }) +
        end(),
      [
        { type: "text", text: "Ye" },
        { type: "source", url: "https://a.example/", title: "A" },
        { type: "source", url: "https://b.example/" },
        { type: "source", url: "https://c.example/", title: "C" },
        { type: "source", url: "https://g.example/", title: "G" },
        { type: "text", text: "s" },
        { type: "part-end" },
        finish("stop"),
      ],
    ],
    [
      "a picture that the model made",
      chunk([{ text: "Yes" }, { inlineData: { mimeType: "image/png", data: "QUJD" } }, { text: "Yes" }]) + end(),
      [...yes, ...yes, finish("stop")],
    ],
    [
      "counts of cache, thoughts and Google's tools",
      chunk([{ text: "Yes" }]) +
        end("STOP", {
          promptTokenCount: 100,
          cachedContentTokenCount: 60,
          toolUsePromptTokenCount: 20,
          candidatesTokenCount: 7,
          thoughtsTokenCount: 30,
        }),
      [...yes, finish("stop", { usage: { input: 120, cached: 60, cacheWrite: 0, output: 37, reasoning: 30 } })],
    ],
    ["the limit of tokens", chunk([{ text: "Yes" }]) + end("MAX_TOKENS"), [...yes, finish("length")]],
    ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"].map(
      (reason): [string, string, readonly object[]] => [
        `the filter ${reason}`,
        chunk([{ text: "Yes" }]) + end(reason),
        [...yes, finish("filtered")],
      ],
    ),
    [
      "a prompt that was blocked, and nothing that follows",
      eventOf({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: counts }) +
        chunk([{ text: "No" }]),
      [finish("filtered")],
    ],
  ])("%s", async (_, stream, parts) => {
    const { own, theirs } = await answersTo([stream]);
    expect(own.error).toBeUndefined();
    expect(own.parts).toMatchObject(parts);
    expect(own.parts).toHaveLength(parts.length);
    expect(own).toEqual(theirs);
  });

  test("F52: a fault of the model, and an unknown reason, are no success", async () => {
    for (const reason of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "BORED"]) {
      const { own, theirs } = await answersTo([chunk([{ text: "Yes" }]) + end(reason)]);
      expect(own).toMatchObject({ parts: yes, error: "provider" });
      expect(own).toEqual(theirs);
    }
  });

  test.each([
    [400, "INVALID_ARGUMENT", "invalid-request"],
    [401, "UNAUTHENTICATED", "authentication"],
    [403, "PERMISSION_DENIED", "authentication"],
    [404, "NOT_FOUND", "unknown-model"],
    [429, "RESOURCE_EXHAUSTED", "rate-limit"],
    [500, "INTERNAL", "provider"],
    [503, "UNAVAILABLE", "overloaded"],
  ])("F14: the error %s, first of all and in the middle", async (status, name, expected) => {
    const failing = eventOf({ error: { code: status, status: name, message: "Sorry" } });
    for (const before of ["", chunk([{ text: "Yes" }])]) {
      const { own, theirs } = await answersTo([before + failing]);
      expect(own).toMatchObject({ parts: before === "" ? [] : yes.slice(0, 1), error: expected });
      expect(own).toEqual(theirs);
    }
  });

  test.each([
    ["ends in a text", chunk([{ text: "Yes" }]), yes],
    ["ends before it began", "", []],
    ["has only counts", eventOf({ usageMetadata: counts }), []],
    ["holds what is not JSON", 'data: {"candidates":\n\n', []],
  ])("F16: a stream that %s is broken", async (_, stream, parts) => {
    const { own, theirs } = await answersTo([stream]);
    expect(own).toMatchObject({ parts, error: "broken-stream" });
    expect(own).toEqual(theirs);
  });

  test("a response of the maximum length is continued, and counts as one answer", async () => {
    const first =
      chunk([{ text: "Ye" }]) +
      chunk(undefined, { finishReason: "CONTINUATION", continuationToken: "t1" }, { usageMetadata: counts });
    const { own, theirs } = await answersTo([first, chunk([{ text: "s" }]) + end()]);
    expect(own.parts).toEqual([...yes, finish("stop", { usage: { ...usage, input: 20, output: 10 } })]);
    expect(own.bodies[1]).toEqual({ ...(own.bodies[0] as object), continuationToken: "t1" });
    expect(own).toEqual(theirs);
  });
});

test("calls and results of Google's tools beside functions keep their ids and signatures", async () => {
  const toolCall = { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["figs"] }, id: "s1" };
  const toolResponse = { toolType: "GOOGLE_SEARCH_WEB", response: { found: 1 }, id: "s1" };
  const stream = chunk([{ text: "Yes" }, { toolCall, ...signed }]) + chunk([{ toolResponse }, { text: "Yes" }]) + end();
  const { own, theirs } = await answersTo([stream]);
  expect(own.parts.map(({ type }) => type)).toEqual([
    ...["text", "part-end", "provider", "provider", "text", "part-end", "finish"],
  ]);
  expect(JSON.stringify(own.parts)).toMatch(/c2ln.*"serverToolCallId":"s1"/);
  expect(own).toEqual(theirs);
});

test("F53: the reason of an early chunk is no end: content without a reason follows", async () => {
  const early = chunk([], { finishReason: "STOP" }) + chunk([{ text: "Yes" }]);
  expect((await answersTo([early])).own).toMatchObject({ parts: yes, error: "broken-stream" });
  expect((await answersTo([early + end()])).own).toMatchObject({ parts: [...yes, finish("stop")], error: undefined });
});

test("F53: an answer whose chunks all have a reason may take longer than the wait for its end", async () => {
  await using server = await serve(async (request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const text of ["One", ", two", ", three", ", four."]) {
      response.write(chunk([{ text }], { finishReason: "STOP" }));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    response.end();
  });
  const options = { id: "google/m", model: "m", baseURL: server.baseURL, bounds: { linger: 150 } };
  const sink = new KeepingSink();
  await geminiContent(options).stream(say("Count"), sink, new AbortController().signal);
  expect(sink.parts).toMatchObject([
    { type: "text", text: "One, two, three, four." },
    { type: "part-end" },
    { type: "finish", reason: "stop" },
  ]);
});

test("F65: a later 0 does not overwrite a count", async () => {
  const stream = chunk([{ text: "Yes" }], {}, { usageMetadata: counts }) + end("STOP", { promptTokenCount: 0 });
  expect((await answersTo([stream])).own.parts.at(-1)).toEqual(finish("stop"));
});

test("Google's sentence about a filter reaches the user, and so does the name of another model", async () => {
  const more = { finishReason: "SAFETY", finishMessage: "Not that." };
  const stream = chunk([{ text: "Yes" }], more, { usageMetadata: counts, modelVersion: "gemini-9" });
  const expected = finish("filtered", { explanation: "Not that.", model: "gemini-9" });
  expect((await answersTo([stream])).own.parts.at(-1)).toEqual(expected);
});

test("parts and fields that came after this was written are passed over", async () => {
  const stream =
    chunk([{ hologram: 3 }, { text: "Yes", depth: 1 }, {}], { index: 0, mood: "good" }, { tea: 2 }) + end();
  expect((await answersTo([stream])).own).toMatchObject({ parts: [...yes, finish("stop")], error: undefined });
});

test("F63: arguments in pieces, which only Vertex AI sends, never become a call without arguments", async () => {
  for (const functionCall of [
    { name: "look", willContinue: true },
    { name: "look", partialArgs: [{ jsonPath: "$.at", stringValue: "x" }] },
  ]) {
    const { own } = await answersTo([chunk([{ text: "Yes" }, { functionCall }]) + end()]);
    expect(own).toMatchObject({ error: "invalid-request" });
    expect(own.parts.map(({ type }) => type)).not.toContain("call");
  }
});

test("a refused key is never seen in the error, its variable is", async () => {
  await using server = await serve((request, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    const message = `API key not valid: ${request.headers["x-goog-api-key"]}`;
    response.end(JSON.stringify({ error: { code: 400, message, status: "INVALID_ARGUMENT" } }));
  });
  const options = { id: "google/m", model: "m", baseURL: server.baseURL, apiKey: "a-secret", keyVariable: "MY_KEY" };
  const error = await geminiContent(options)
    .stream(say("Hi"), new KeepingSink(), new AbortController().signal)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ModelError);
  expect(String(error)).toMatch(/API key not valid.*MY_KEY/);
  expect(String(error)).not.toContain("a-secret");
});

test("B22: an interruption before anything was sent sends nothing", async () => {
  const control = new AbortController();
  const driver = geminiContent({ id: "google/m", model: "m", baseURL: await deadAddress() });
  const answer = driver.stream(say("Hi"), new KeepingSink(), control.signal);
  control.abort("enough");
  await expect(answer).rejects.toBe("enough");
});

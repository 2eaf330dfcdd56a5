import { ModelError } from "@banyan/core";
import type { ModelPart } from "@banyan/core/drivers";
import { describe, expect, test } from "vitest";
import { deadAddress, eventOf, serve } from "../testing/server.ts";
import { KeepingSink, say } from "../testing/sink.ts";
import { anthropicMessages } from "./driver.ts";
import { throughPackage } from "./package.ts";

const event = (type: string, data: object = {}) => `event: ${type}\n${eventOf({ type, ...data })}`;
const start = (usage: object = {}, message: object = {}) =>
  event("message_start", {
    message: {
      type: "message",
      role: "assistant",
      id: "msg_1",
      model: "claude-sonnet-4-5",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 1, ...usage },
      ...message,
    },
  });
const delta = (index: number, data: object) => event("content_block_delta", { index, delta: data });
const block = (index: number, content_block: object, ...deltas: readonly object[]) =>
  event("content_block_start", { index, content_block }) +
  deltas.map((one) => delta(index, one)).join("") +
  event("content_block_stop", { index });
const said = (index: number, ...texts: readonly string[]) =>
  block(index, { type: "text", text: "" }, ...texts.map((text) => ({ type: "text_delta", text })));
const end = (stop: object = { stop_reason: "end_turn" }, usage: object = {}) =>
  event("message_delta", { delta: { stop_sequence: null, ...stop }, usage: { output_tokens: 5, ...usage } }) +
  event("message_stop");
const tool = (id: string, more: object = {}) => ({ type: "tool_use", id, name: "look", input: {}, ...more });
const json = (partial_json: string) => ({ type: "input_json_delta", partial_json });
const failing = (type: string, message = "Sorry") => event("error", { error: { type, message } });

interface Answered {
  readonly parts: readonly ModelPart[];
  readonly error: Pick<ModelError, "code" | "retryAfter" | "retryable"> | undefined;
}

/** The result of our own driver and of the provider's package for an answer. */
async function answersTo(stream: string): Promise<{ own: Answered; theirs: Answered }> {
  await using server = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" }).end(stream);
  });
  const options = { id: "anthropic/m", model: "claude-sonnet-4-5", baseURL: server.baseURL, apiKey: "k" };
  const [own, theirs] = await Promise.all(
    [anthropicMessages(options), throughPackage(options)].map(async (made) => {
      const sink = new KeepingSink();
      const error = await (await made).stream(say("Hi"), sink, new AbortController().signal).then(
        () => undefined,
        ({ code, retryAfter, retryable }: ModelError) => ({ code, retryAfter, retryable }),
      );
      return { parts: sink.parts, error };
    }),
  );
  return { own: own as Answered, theirs: theirs as Answered };
}

const usage = { input: 10, cached: 0, cacheWrite: 0, output: 5, reasoning: 0 };
const finish = (reason: string, more: object = {}) => ({ type: "finish", reason, usage, ...more });
const yes = [{ type: "text", text: "Yes" }, { type: "part-end" }];

describe("an answer equals the result of the provider's package", () => {
  test.each<[name: string, stream: string, parts: readonly object[]]>([
    [
      "two texts",
      start() + said(0, "Ye", "", "s") + said(1, "No") + end(),
      [...yes, { type: "text", text: "No" }, { type: "part-end" }, finish("stop")],
    ],
    ["a text that is empty", start() + said(0) + end(), [finish("stop")]],
    [
      "a text whose beginning is missing",
      start() + delta(0, { type: "text_delta", text: "Yes" }) + end(),
      [...yes, finish("stop")],
    ],
    [
      "pings",
      event("ping") + start() + event("ping") + said(0, "Yes") + event("ping") + end(),
      [...yes, finish("stop")],
    ],
    [
      "signed thinking",
      start() +
        block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "Hm" },
          { type: "signature_delta", signature: "c2ln" },
        ) +
        said(1, "Yes") +
        end(),
      [
        { type: "reasoning", text: "Hm" },
        { type: "part-end", provider: { anthropic: { signature: "c2ln" } } },
        ...yes,
        finish("stop"),
      ],
    ],
    [
      "thinking without words, and thinking that is hidden",
      start() +
        block(0, { type: "thinking", thinking: "" }, { type: "signature_delta", signature: "c2ln" }) +
        block(1, { type: "redacted_thinking", data: "eHg=" }) +
        end(),
      [
        { type: "reasoning", text: "" },
        { type: "part-end", provider: { anthropic: { signature: "c2ln" } } },
        { type: "reasoning", text: "" },
        { type: "part-end", provider: { anthropic: { redactedData: "eHg=" } } },
        finish("stop"),
      ],
    ],
    [
      "calls, with arguments in pieces, at once and not at all",
      start() +
        block(0, tool("a"), json(""), json('{"at":'), json('"x"}')) +
        block(1, tool("b", { input: { at: "y" } })) +
        block(2, tool("c", { caller: { type: "direct" } })) +
        end({ stop_reason: "tool_use" }),
      [
        { type: "call", index: 0, id: "a", tool: "look" },
        { type: "call-input", index: 0, text: '{"at":"x"}' },
        { type: "call-end", index: 0 },
        { type: "call", index: 1, id: "b", tool: "look" },
        { type: "call-input", index: 1, text: '{"at":"y"}' },
        { type: "call-end", index: 1 },
        { type: "call", index: 2, id: "c", tool: "look" },
        { type: "call-input", index: 2, text: "{}" },
        { type: "call-end", index: 2, provider: { anthropic: { caller: { type: "direct" } } } },
        finish("calls"),
      ],
    ],
    [
      "a call within a text that goes on",
      start() +
        event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
        delta(0, { type: "text_delta", text: "Ye" }) +
        block(1, tool("a"), json("{}")) +
        delta(0, { type: "text_delta", text: "s" }) +
        end(),
      [
        { type: "text", text: "Ye" },
        { type: "part-end" },
        { type: "call", index: 0, id: "a", tool: "look" },
        { type: "call-input", index: 0, text: "{}" },
        { type: "call-end", index: 0 },
        { type: "text", text: "s" },
        { type: "part-end" },
        finish("calls"),
      ],
    ],
    [
      "what the cache had and took, and how much was thought",
      start({ cache_read_input_tokens: 100, cache_creation_input_tokens: 20 }) +
        said(0, "Yes") +
        end(undefined, {
          output_tokens: 50,
          output_tokens_details: { thinking_tokens: 30 },
          input_tokens: 11,
          cache_read_input_tokens: null,
        }),
      [...yes, finish("stop", { usage: { input: 131, cached: 100, cacheWrite: 20, output: 50, reasoning: 30 } })],
    ],
    [
      "several samplings, those of an advisor apart",
      start() +
        said(0, "Yes") +
        end(undefined, {
          iterations: [
            { type: "compaction", input_tokens: 100, output_tokens: 10 },
            { type: "message", input_tokens: 20, output_tokens: 7 },
            { type: "advisor_message", model: "a", input_tokens: 1000, output_tokens: 1000 },
          ],
        }),
      [...yes, finish("stop", { usage: { ...usage, input: 120, output: 17 } })],
    ],
    [
      "a sampling in which another model stood in",
      start() +
        said(0, "Yes") +
        end(undefined, {
          iterations: [
            { type: "message", input_tokens: 100, output_tokens: 0 },
            { type: "fallback_message", model: "b", input_tokens: 10, output_tokens: 5 },
          ],
        }),
      [...yes, finish("stop")],
    ],
    [
      "another model than was asked",
      start({}, { model: "claude-9" }) + said(0, "Yes") + end(),
      [...yes, finish("stop", { model: "claude-9" })],
    ],
    [
      "a stop sequence",
      start() + said(0, "Yes") + end({ stop_reason: "stop_sequence", stop_sequence: "END" }),
      [...yes, finish("stop")],
    ],
    ["the limit of tokens", start() + said(0, "Yes") + end({ stop_reason: "max_tokens" }), [...yes, finish("length")]],
    [
      "the end of the context",
      start() + said(0, "Yes") + end({ stop_reason: "model_context_window_exceeded" }),
      [...yes, finish("length")],
    ],
    ["a pause", start() + said(0, "Yes") + end({ stop_reason: "pause_turn" }), [...yes, finish("paused")]],
    [
      "F53: an answer without its last event",
      start() +
        said(0, "Yes") +
        event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
      [...yes, finish("stop")],
    ],
    [
      "a refusal",
      start() +
        said(0, "Yes") +
        end({ stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber", explanation: "No." } }),
      [...yes, finish("filtered", { explanation: "No." })],
    ],
    ["a refusal without a word", start() + end({ stop_reason: "refusal" }), [finish("filtered")]],
  ])("%s", async (_, stream, parts) => {
    const { own, theirs } = await answersTo(stream);
    expect(own).toEqual({ parts, error: undefined });
    expect(own).toEqual(theirs);
  });

  test("F52: an unknown finish reason is no success, and the error names the reason", async () => {
    const { own, theirs } = await answersTo(start() + said(0, "Yes") + end({ stop_reason: "bored" }));
    expect(own).toMatchObject({ parts: yes, error: { code: "provider" } });
    expect(theirs).toMatchObject({ parts: yes, error: { code: "provider" } });
  });

  test.each([
    ["overloaded_error", "overloaded"],
    ["rate_limit_error", "rate-limit"],
    ["api_error", "provider"],
    ["invalid_request_error", "invalid-request"],
    ["not_found_error", "unknown-model"],
    ["billing_error", "quota"],
    ["authentication_error", "authentication"],
    ["permission_error", "authentication"],
    ["request_too_large", "context-overflow"],
  ])("F14: %s, first of all and in the middle", async (type, code) => {
    const [first, middle] = await Promise.all([
      answersTo(failing(type)),
      answersTo(start() + said(0, "Yes") + failing(type)),
    ]);
    expect(first.own).toMatchObject({ parts: [], error: { code } });
    expect(first.own).toEqual(first.theirs);
    expect(middle.own).toMatchObject({ parts: yes, error: { code } });
    expect(middle.own).toEqual(middle.theirs);
  });

  test.each([
    [
      "ends in a text",
      start() +
        event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
        delta(0, { type: "text_delta", text: "Yes" }),
      yes,
    ],
    ["ends before its stop reason", start() + said(0, "Yes"), yes],
    ["ends before it began", start(), []],
    ["holds what is not JSON", `${start()}data: {"type":\n\n`, []],
  ])("F16: a stream that %s is broken", async (_, stream, parts) => {
    const { own, theirs } = await answersTo(stream);
    expect(own).toMatchObject({ parts, error: { code: "broken-stream" } });
    expect(own).toEqual(theirs);
  });
});

test("events and blocks that came after this was written are passed over", async () => {
  const stream = [
    event("tea_time", { cups: 2 }),
    start(),
    block(0, { type: "hologram", depth: 3 }, { type: "hologram_delta", light: "!" }),
    said(1, "Yes"),
    end(),
  ];
  expect((await answersTo(stream.join(""))).own).toEqual({ parts: [...yes, finish("stop")], error: undefined });
});

test("the driver does not wait for data after the end", async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(start() + said(0, "Yes") + end());
    response.on("close", () => closed.resolve());
  });
  const driver = anthropicMessages({ id: "anthropic/m", model: "m", baseURL: server.baseURL });
  const sink = new KeepingSink();
  await driver.stream(say("Hi"), sink, new AbortController().signal);
  expect(sink.parts.at(-1)).toMatchObject({ type: "finish" });
  await closed.promise;
});

test("a refused key is never seen in the error, its variable is", async () => {
  await using server = await serve((request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Bad key: ${request.headers["x-api-key"]}` } }));
  });
  const options = {
    id: "anthropic/m",
    model: "m",
    baseURL: server.baseURL,
    apiKey: "sk-secret-key",
    keyVariable: "MY_KEY",
  };
  const error = await anthropicMessages(options)
    .stream(say("Hi"), new KeepingSink(), new AbortController().signal)
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ModelError);
  expect(String(error)).toMatch(/Bad key.*MY_KEY/);
  expect(String(error)).not.toContain("sk-secret-key");
});

test("B22: an interruption before anything was sent sends nothing", async () => {
  const control = new AbortController();
  const driver = anthropicMessages({ id: "anthropic/m", model: "m", baseURL: await deadAddress() });
  const answer = driver.stream(say("Hi"), new KeepingSink(), control.signal);
  control.abort("enough");
  await expect(answer).rejects.toBe("enough");
});

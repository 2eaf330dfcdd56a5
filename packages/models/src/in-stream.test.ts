import { Agent, type FeedItem, Session, type TurnError } from "@banyan/core";
import { describe, expect, test } from "vitest";
import { resolveModel } from "./resolve.ts";
import { chunk, eventOf, serve } from "./testing/server.ts";

/** A wire format: events that begin an answer, end it, or report an error. */
interface Wire {
  readonly model: string;
  readonly throughPackage?: true;
  environment(address: string): Record<string, string>;
  /** Events with the text "Half". */
  readonly begin: string;
  /** Events with the text " done." and the end of the answer. */
  readonly rest: string;
  /** Errors in the provider's words, and their codes. */
  readonly errors: readonly (readonly [code: string, event: string, retryAfter?: number])[];
}

const named = (type: string, data: object) => `event: ${type}\n${eventOf({ type, ...data })}`;
const anthropicError = (type: string, message: string) => named("error", { error: { type, message } });
const responsesError = (code: string, message: string) =>
  eventOf({ type: "response.failed", sequence_number: 9, response: { error: { code, message } } });
const chatError = (error: object) => eventOf({ error });
const googleError = (code: number, status: string, message: string, details: object[] = []) =>
  eventOf({ error: { code, status, message, details } });
const item = { type: "message", id: "msg_1", status: "in_progress", role: "assistant", content: [] };
const said = (text: string) =>
  eventOf({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: text });

const google: Wire = {
  model: "google/gemini-2.5-flash",
  environment: (address) => ({ GOOGLE_GENERATIVE_AI_API_KEY: "k", GOOGLE_GENERATIVE_AI_BASE_URL: address }),
  begin: eventOf({ candidates: [{ content: { role: "model", parts: [{ text: "Half" }] } }] }),
  rest: eventOf({
    candidates: [{ content: { role: "model", parts: [{ text: " done." }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 3, totalTokenCount: 4 },
  }),
  errors: [
    ["overloaded", googleError(503, "UNAVAILABLE", "The model is overloaded.")],
    ["rate-limit", googleError(429, "RESOURCE_EXHAUSTED", "Slow down.", [{ retryDelay: "7s" }]), 7000],
    ["provider", googleError(500, "INTERNAL", "An internal error has occurred.")],
    [
      "context-overflow",
      googleError(
        400,
        "INVALID_ARGUMENT",
        "The input token count (9) exceeds the maximum number of tokens allowed (8).",
      ),
    ],
    ["quota", googleError(429, "RESOURCE_EXHAUSTED", "Quota", [{ violations: [{ quotaId: "RequestsPerDay" }] }])],
    ["authentication", googleError(401, "UNAUTHENTICATED", "Request had invalid credentials.")],
  ],
};

const openai: Wire = {
  model: "openai/gpt-5",
  environment: (address) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: address }),
  begin:
    eventOf({ type: "response.created", response: { id: "r", created_at: 1, model: "gpt-5" } }) +
    eventOf({ type: "response.output_item.added", output_index: 0, item }) +
    said("Half"),
  rest:
    said(" done.") +
    eventOf({ type: "response.output_item.done", output_index: 0, item: { ...item, status: "completed" } }) +
    eventOf({ type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 3 } } }),
  errors: [
    ["overloaded", responsesError("server_is_overloaded", "The server is overloaded, slow_down")],
    ["rate-limit", responsesError("rate_limit_exceeded", "Rate limit reached. Please try again in 7s."), 7000],
    ["provider", responsesError("server_error", "Something went wrong")],
    ["context-overflow", responsesError("context_length_exceeded", "Your input exceeds the context window.")],
    ["quota", responsesError("insufficient_quota", "You exceeded your current quota.")],
    ["authentication", responsesError("invalid_api_key", "Incorrect API key provided")],
  ],
};

const wires: readonly Wire[] = [
  {
    model: "anthropic/claude-sonnet-4-5",
    environment: (address) => ({ ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: address }),
    begin:
      named("message_start", {
        message: { id: "m", model: "c", content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      }) +
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
      named("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Half" } }),
    rest:
      named("content_block_delta", { index: 0, delta: { type: "text_delta", text: " done." } }) +
      named("content_block_stop", { index: 0 }) +
      named("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } }) +
      named("message_stop", {}),
    errors: [
      ["overloaded", anthropicError("overloaded_error", "Overloaded")],
      ["rate-limit", anthropicError("rate_limit_error", "Too many tokens this minute")],
      ["provider", anthropicError("api_error", "Internal server error")],
      ["context-overflow", anthropicError("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum")],
      ["quota", anthropicError("billing_error", "Your credit balance is too low")],
      ["authentication", anthropicError("authentication_error", "invalid x-api-key")],
    ],
  },
  openai,
  { ...openai, throughPackage: true },
  {
    model: "openai-chat/gpt-5",
    environment: (address) => ({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: address }),
    begin: eventOf(chunk({ role: "assistant", content: "Half" })),
    rest: eventOf(chunk({ content: " done." }, "stop")) + eventOf("[DONE]"),
    errors: [
      ["overloaded", chatError({ code: 503, message: "No capacity" })],
      ["overloaded", chatError({ type: "overloaded_error", message: "Overloaded" })],
      ["rate-limit", chatError({ code: "rate_limit_exceeded", message: "Please try again in 7s." }), 7000],
      ["provider", chatError({ code: 502, message: "Provider returned error" })],
      ["context-overflow", chatError({ code: "context_length_exceeded", message: "Too long" })],
      ["quota", chatError({ code: "insufficient_quota", message: "You exceeded your current quota" })],
      ["authentication", chatError({ code: "invalid_api_key", message: "Incorrect API key provided" })],
    ],
  },
  google,
  { ...google, throughPackage: true },
];

/** A server's output for each request in turn; `null` leaves the connection open, `cut` resets it. */
type Answer = readonly (string | null | "cut")[];

/** Takes one turn against a server with these answers. */
async function turn(wire: Wire, answers: readonly Answer[], retry: object) {
  let asked = 0;
  await using server = await serve((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const answer = answers[asked++] ?? answers.at(-1) ?? [];
    for (const piece of answer) if (piece !== null && piece !== "cut") response.write(piece);
    // Give the written data time to arrive before the connection breaks.
    if (answer.includes("cut")) setTimeout(() => response.destroy(), 50);
    else if (!answer.includes(null)) response.end();
  });
  const overrides = wire.throughPackage ? { [wire.model]: { driver: "package" as const } } : {};
  const model = await resolveModel(wire.model, { env: wire.environment(server.baseURL), overrides });
  const session = Session.inMemory();
  const feed: FeedItem[] = [];
  const watching = (async () => {
    for await (const item of session.feed()) feed.push(item);
  })();
  // Only the answer matters here. Other tests check compaction after an overflow.
  const agent = new Agent({ model, retry, compaction: false });
  const ended = await agent.send("Hello", { session }).catch((error: TurnError) => error.turn);
  await session.close();
  await watching;
  return { ended, asked, types: feed.map(({ type }) => type), feed };
}

describe.each(wires)("$model, through its package: $throughPackage, in the middle of its answer", (wire) => {
  const { begin, rest, errors } = wire;

  test.each(errors.map(([code, event, wait]) => ({ code, event, wait })))(
    "F14: tells an error that is $code: the answer so far is kept and marked",
    async ({ code, event, wait }) => {
      const { ended, asked } = await turn(wire, [[begin, event]], { attempts: 1 });
      expect(ended).toMatchObject({
        reason: "failed",
        text: "Half",
        message: { finish: "error" },
        error: { code, ...(wait === undefined ? {} : { cause: { retryAfter: wait } }) },
      });
      expect(asked).toBe(1);
    },
  );

  const told = (code: string): string => errors.find(([known]) => known === code)?.[1] ?? "";
  const overload = told("overloaded");
  const overflow = told("context-overflow");

  test("F14: is overloaded: the answer is abandoned and requested again, and the feed reports both", async () => {
    const { ended, asked, types, feed } = await turn(
      wire,
      [
        [begin, overload],
        [begin, rest],
      ],
      { attempts: 2, delay: 1 },
    );
    expect(ended).toMatchObject({ reason: "answered", text: "Half done.", steps: 1 });
    expect(asked).toBe(2);
    expect(types.filter((type) => /^message\.(started|abandoned|completed)$|^model\.retrying$/.test(type))).toEqual([
      "message.started",
      "message.abandoned",
      "model.retrying",
      "message.started",
      "message.completed",
    ]);
    expect(feed.find(({ type }) => type === "model.retrying")).toMatchObject({ attempt: 2 });
  });

  test("F14: reports a full context: no retry follows, because it would fail too", async () => {
    const { ended, asked } = await turn(
      wire,
      [
        [begin, overflow],
        [begin, rest],
      ],
      { attempts: 3, delay: 1 },
    );
    expect(ended).toMatchObject({ reason: "failed", error: { code: "context-overflow" } });
    expect(asked).toBe(1);
  });

  test("F12: falls silent: a retry follows after the idle time", async () => {
    const { ended, asked } = await turn(
      wire,
      [
        [begin, null],
        [begin, rest],
      ],
      { attempts: 4, delay: 1, idle: 500 },
    );
    expect(ended).toMatchObject({ reason: "answered", text: "Half done." });
    expect(asked).toBe(2);
  });

  test("F12: stays silent: the turn fails as stalled and keeps the partial answer", async () => {
    const { ended } = await turn(wire, [[begin, null]], { attempts: 1, idle: 500 });
    expect(ended).toMatchObject({ reason: "failed", text: "Half", error: { code: "stalled" } });
  });

  test("F12: sends nothing at all: a retry follows", async () => {
    const { ended } = await turn(wire, [[null], [begin, rest]], { attempts: 4, delay: 1, idle: 500 });
    expect(ended).toMatchObject({ reason: "answered", text: "Half done." });
  });

  test.each([
    ["breaks off", [begin, "cut"]],
    ["ends without an end", [begin]],
  ] as const)("F16: %s: it is asked anew, and fails as a broken stream when that does not help", async (_, broken) => {
    const mended = await turn(wire, [broken, [begin, rest]], { attempts: 2, delay: 1 });
    expect(mended.ended).toMatchObject({ reason: "answered", text: "Half done." });
    const { ended } = await turn(wire, [broken], { attempts: 1 });
    expect(ended).toMatchObject({ reason: "failed", text: "Half", error: { code: "broken-stream" } });
  });
});

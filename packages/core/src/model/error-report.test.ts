import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelErrorCode } from "../ports/model.ts";
import { Patience } from "../run/patience.ts";
import { modelErrorFromResponse } from "./model-error.ts";

const openRouter = (raw: string) => ({
  error: { message: "Provider returned error", code: 400, metadata: { raw, provider_name: "Some" } },
});

/** Errors from public reports: the place, the response, its kind, and words for the user. */
const SEEN: readonly (readonly [string, number | undefined, unknown, ModelErrorCode, string])[] = [
  [
    "or-raw-overflow: JSON in `metadata.raw`",
    400,
    openRouter('{"type":"error","error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}'),
    "context-overflow",
    "213462 tokens > 200000",
  ],
  [
    "or-raw-words: words in `metadata.raw`",
    400,
    openRouter('{"error":{"message":"thinking is enabled but reasoning_content is missing"}}'),
    "invalid-request",
    "Provider returned error: thinking is enabled but reasoning_content is missing",
  ],
  ["plain text in `metadata.raw`", 400, openRouter("the upstream is out of tokens"), "invalid-request", "upstream"],
  [
    "overflow-bytes",
    400,
    { error: { message: "total message size 10176584 exceeds limit 2097152", type: "invalid_request_error" } },
    "context-overflow",
    "total message size",
  ],
  [
    "a negative budget",
    400,
    { error: { message: "max_tokens must be at least 1, got -812.", type: "BadRequestError" } },
    "context-overflow",
    "got -812",
  ],
  [
    "groq-tool-use-failed",
    400,
    {
      error: {
        code: "tool_use_failed",
        message: "Failed to call a function.",
        failed_generation: '<function=read={"path": "a.txt"}</function>',
      },
    },
    "provider",
    "Failed to call a function",
  ],
  ["bedrock-midway-model-error", 424, { message: "The model made a mistake." }, "provider", "made a mistake"],
  [
    "responses-failed-quota",
    undefined,
    {
      type: "response.failed",
      response: { error: { code: "insufficient_quota", message: "You exceeded your current quota" } },
    },
    "quota",
    "You exceeded your current quota",
  ],
  [
    "azure-filter-400",
    400,
    {
      error: {
        code: "content_filter",
        message: "The response was filtered due to the prompt triggering Azure's content management policy.",
        innererror: { code: "ResponsibleAIPolicyViolation" },
      },
    },
    "filtered",
    "The response was filtered",
  ],
  ["DeepSeek's filter", 400, { error: { message: "Content Exists Risk" } }, "filtered", "Content Exists Risk"],
  [
    "OpenRouter's filter",
    403,
    { error: { code: 403, message: "Your input was flagged", metadata: { reasons: ["violence"] } } },
    "filtered",
    "flagged",
  ],
  [
    "a list in `detail`, in a `message` that is an object",
    422,
    { message: { detail: [{ type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs" }] } },
    "invalid-request",
    "body.stream_options: Extra inputs",
  ],
  [
    "JSON in a text in JSON",
    400,
    { error_code: "BAD_REQUEST", message: '{"message":"Input is too long for requested model."}' },
    "context-overflow",
    "Input is too long",
  ],
  [
    "JSON behind words",
    400,
    'API error: 400 {"error":{"message":"prompt is too long"}}',
    "context-overflow",
    "too long",
  ],
];

describe("F55: the words of an error are found where providers put them", () => {
  test.each(SEEN)("%s", (_, status, body, code, words) => {
    for (const form of [body, JSON.stringify(body)]) {
      const error = modelErrorFromResponse({ ...(status && { status }), body: form });
      expect(error.code).toBe(code);
      expect(error.message).toContain(words);
      expect(error.message).not.toContain('{"');
    }
  });

  // Messages of providers, with codes assigned by hand.
  const SENTENCES: readonly (readonly [string, ModelErrorCode])[] = [
    ["prompt is too long: 213462 tokens > 200000 maximum", "context-overflow"],
    ["This model's maximum context length is 8192 tokens", "context-overflow"],
    ["request payload size exceeds the limit: 20971520 bytes", "context-overflow"],
    ["temperature must be at most 2", "invalid-request"],
    ["Unknown parameter: stream_options", "invalid-request"],
    ["Your credit balance is too low", "quota"],
    ["Incorrect API key provided", "authentication"],
    ["Content Exists Risk", "filtered"],
    ["Invalid prompt: your prompt was flagged as potentially violating our usage policy", "filtered"],
  ];
  const { body } = fc.letrec<{ body: (sentence: string) => unknown }>((tie) => ({
    body: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<(sentence: string) => unknown>(
        (message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
        (error) => ({ error }),
        (message) => ({ message }),
        (detail) => ({ detail }),
        (message) => ({ object: "error", message, type: "BadRequestError", code: 400 }),
        (msg) => ({ detail: [{ msg }] }),
      ),
      fc
        .tuple(
          tie("body"),
          fc.constantFrom<(inner: unknown) => unknown>(
            (inner) => [inner],
            (response) => ({ type: "response.failed", response }),
            (raw) => ({ error: { message: "Provider returned error", metadata: { raw: JSON.stringify(raw) } } }),
            (raw) => ({ error: { message: "Upstream error", code: 400, metadata: { raw } } }),
            (message) => ({ error: { message } }),
            (message) => ({ message: JSON.stringify(message) }),
            (inner) => ({ error: { message: `litellm.BadRequestError: 400 ${JSON.stringify(inner)}` } }),
            (inner) => ({ errors: [inner] }),
          ),
        )
        .map(
          ([inner, wrap]) =>
            (sentence: string) =>
              wrap(inner(sentence)),
        ),
    ),
  }));

  test("any wrapping keeps the sentence and its kind", () => {
    fc.assert(
      fc.property(fc.constantFrom(...SENTENCES), body, fc.boolean(), ([sentence, code], wrapped, asText) => {
        const given = wrapped(sentence);
        const error = modelErrorFromResponse({ status: 400, body: asText ? JSON.stringify(given) : given });
        expect(error.code).toBe(code);
        expect(error.message).toContain(sentence);
        expect(error.message).not.toMatch(/[{}[\]]/);
      }),
      { numRuns: 300 },
    );
  });

  test("a body of any shape makes one line, and never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.option(fc.integer({ min: 400, max: 599 })), (any, status) => {
        const error = modelErrorFromResponse({ ...(status !== null && { status }), body: any });
        expect(error.message.length).toBeLessThanOrEqual(500);
        expect(error.message).not.toMatch(/[\n\r]/);
      }),
      { numRuns: 300 },
    );
  });
});

describe("F59: an overflow in other measures", () => {
  const amount = fc.integer({ min: 1, max: 100_000_000 });
  const form = fc.oneof(
    fc.tuple(amount, amount).map(([size, most]) => `total message size ${size} exceeds limit ${most}`),
    amount.map((most) => `Request payload size exceeds the limit: ${most} bytes.`),
    amount.map((rest) => `max_tokens must be at least 1, got -${rest}.`),
    amount.map((rest) => `max_completion_tokens must be greater than 0 but is -${rest}`),
    amount.map((rest) => `Available tokens left: -${rest}`),
    amount.map((size) => `the request exceeds the available context size (${size} tokens), try increasing it`),
    fc.tuple(amount, amount).map(([size, most]) => `prompt token count of ${size} exceeds the limit of ${most}`),
    fc.tuple(amount, amount).map(([size, most]) => `Prompt contains ${size} tokens, too large for model with ${most}`),
    amount.map((size) => `requested 0 output tokens and your prompt contains at least ${size} input tokens`),
  );

  test("causes a summary, whatever the numbers are", () => {
    fc.assert(
      fc.property(form, (message) => {
        expect(modelErrorFromResponse({ status: 400, body: { error: { message } } }).code).toBe("context-overflow");
      }),
      { numRuns: 200 },
    );
  });

  test.each(["max_tokens must be at most 8192, got 9000", "temperature must be at least 0, got -1", "top_k is -1"])(
    "but %s is another mistake",
    (message) => {
      expect(modelErrorFromResponse({ status: 400, body: { error: { message } } }).code).toBe("invalid-request");
    },
  );
});

describe("F60: a fault of the model with status 4xx", () => {
  const tries = (error: ReturnType<typeof modelErrorFromResponse>) => {
    const patience = new Patience({ retry: { delay: 0 }, fallbacks: [] }, true);
    let attempts = 1;
    while (patience.after(error, false) !== undefined && attempts < 100) attempts++;
    return attempts;
  };

  test("is asked again, a few times at most, and a fault of the request never", () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    const fault = fc.oneof(
      word.map((message) => ({ status: 400, body: { error: { code: "tool_use_failed", message } } })),
      word.map((message) => ({ status: 400, body: { error: { code: "json_validate_failed", message } } })),
      word.map((message) => ({ status: 424, body: { message } })),
      word.map((message) => ({ body: { type: "modelStreamErrorException", message } })),
    );
    fc.assert(
      fc.property(fault, (response) => {
        const attempts = tries(modelErrorFromResponse(response));
        expect(attempts).toBeGreaterThan(1);
        expect(attempts).toBeLessThanOrEqual(4);
      }),
      { numRuns: 100 },
    );
    expect(tries(modelErrorFromResponse({ status: 400, body: { error: { message: "Bad." } } }))).toBe(1);
  });
});

describe("F61: a limit of hours or days", () => {
  const DAY = 86_400_000;
  const waitOf = (body: unknown, headers: Record<string, string> = {}) =>
    modelErrorFromResponse({ status: 429, body, headers: (name) => headers[name] });

  test.each([
    [
      "usage-limit-resets",
      {
        error: {
          type: "usage_limit_reached",
          message: "The usage limit has been reached",
          resets_in_seconds: 529_498,
        },
      },
      "6 d 3 h",
    ],
    ["in words", { error: { message: "Try again in 3 days 1 hour 9 minutes." } }, "3 d 1 h"],
    ["in a sentence of Groq", { error: { message: "Limit 100000 (TPD). Please try again in 7m12s." } }, "8 min"],
  ])("%s: one request, and the message names the end of the limit", (_, body, ends) => {
    const error = waitOf(body, { "retry-after": "30" });
    const patience = new Patience({ retry: {}, fallbacks: [] }, true);
    if ((error.retryAfter ?? 0) > 300_000) expect(patience.after(error, false)).toBeUndefined();
    expect(waitOf(body).message).toContain(`it has room again in ${ends}`);
  });

  test.each([
    ["ISO", (date: Date) => `You will regain access on ${date.toISOString().slice(0, 10)} at 00:00 UTC.`],
    ["ISO with a time", (date: Date) => `Your limit resets at ${date.toISOString()}`],
    ["English", (date: Date) => `try again at ${date.toDateString().slice(4, 10)}th, ${date.getFullYear()} 3:14 PM.`],
    ["seconds since 1970", (date: Date) => `Claude AI usage limit reached|${Math.round(date.getTime() / 1000)}`],
  ])("a date in words, as %s", (_, sentence) => {
    const date = new Date(Date.now() + 10 * DAY);
    const { retryAfter = 0, message } = waitOf({ error: { message: sentence(date) } });
    expect(Math.abs(retryAfter - 10 * DAY)).toBeLessThanOrEqual(DAY);
    expect(message).toMatch(/it has room again in \d+ d( \d+ h)? \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)/);
  });

  test("gemini-per-day: without a delay there is no retry, and the message names the limit", () => {
    const details = [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "RATE_LIMIT_EXCEEDED",
        metadata: { quota_limit: "Gemini25ProRequestsPerDay" },
      },
    ];
    const error = waitOf({ error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded", details } });
    expect(error).toMatchObject({ code: "quota", retryable: false });
    expect(error.message).toContain("Google renews it at midnight");
  });

  test("any duration in words is read", () => {
    const units = { day: DAY, hour: 3_600_000, minute: 60_000, second: 1_000 };
    const part = fc.tuple(
      fc.integer({ min: 1, max: 59 }),
      fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
    );
    const spelt = fc.constantFrom(
      (count: number, unit: string) => `${count} ${unit}${count === 1 ? "" : "s"}`,
      (count: number, unit: string) => `${count}${unit[0]}`,
    );
    const lead = fc.constantFrom("Please try again in ", "retry after ", "Resets in ", "Please wait ");
    fc.assert(
      fc.property(lead, fc.array(part, { minLength: 1, maxLength: 4 }), spelt, (begin, parts, spell) => {
        const words = parts.map(([count, unit]) => spell(count, unit)).join(" ");
        const lead = begin === "Please wait " ? "Please wait for " : begin;
        const wait = parts.reduce((sum, [count, unit]) => sum + count * units[unit], 0);
        expect(waitOf({ error: { message: `${lead}${words}.` } }).retryAfter).toBe(wait);
      }),
      { numRuns: 200 },
    );
  });
});

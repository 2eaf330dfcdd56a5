import { describe, expect, test } from "vitest";
import { modelErrorFromNetwork, modelErrorFromResponse } from "./model-error.ts";

const openai = (message: string, type: string, code: string | null = null) =>
  JSON.stringify({ error: { message, type, param: null, code } });
const anthropic = (type: string, message: string) => JSON.stringify({ type: "error", error: { type, message } });

test("C9: a message can leave out the remedy if the program applies it itself", () => {
  const busy = modelErrorFromResponse({ status: 429, body: "Slow down.", address: "https://models.example/v1" });
  expect([busy.message, busy.fact]).toEqual([
    "models.example accepts no more requests for now; wait a little and try again (429: Slow down.)",
    "models.example accepts no more requests for now (429: Slow down.)",
  ]);
  const cut = modelErrorFromNetwork(
    Object.assign(new Error("read"), { code: "ECONNRESET" }),
    "https://models.example/v1",
  );
  expect([cut?.message, cut?.fact]).toEqual([
    "models.example cut the connection; try again (read)",
    "models.example cut the connection (read)",
  ]);
});

describe("the words of a response", () => {
  test.each([
    ["a key that is wrong", 401, anthropic("authentication_error", "invalid x-api-key"), "authentication"],
    ["a key without the right", 403, openai("Not allowed", "permission_error"), "authentication"],
    [
      "a model that is not there",
      404,
      openai("The model `x` does not exist", "invalid_request_error", "model_not_found"),
      "unknown-model",
    ],
    ["a model that Ollama has not pulled", 404, '{"error":"model \'x\' not found"}', "unknown-model"],
    ["too many requests", 429, openai("Rate limit reached", "requests", "rate_limit_exceeded"), "rate-limit"],
    [
      "too many tokens in a minute",
      429,
      anthropic("rate_limit_error", "too many input tokens per minute"),
      "rate-limit",
    ],
    [
      "an empty account (F14)",
      429,
      openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
      "quota",
    ],
    [
      "an empty account that is told as a bad request",
      400,
      anthropic("invalid_request_error", "Your credit balance is too low"),
      "quota",
    ],
    ["a payment that is due", 402, "", "quota"],
    ["overload (F14)", 529, anthropic("overloaded_error", "Overloaded"), "overloaded"],
    ["a service that is away", 503, "", "overloaded"],
    [
      "a context that is full, at OpenAI",
      400,
      openai("too long", "invalid_request_error", "context_length_exceeded"),
      "context-overflow",
    ],
    [
      "a context that is full, at Anthropic",
      400,
      anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
      "context-overflow",
    ],
    [
      "a context that is full, at llama.cpp",
      400,
      '{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}',
      "context-overflow",
    ],
    ["a body that is too large", 413, "", "context-overflow"],
    ["a bad setting", 400, openai("temperature must be at most 2", "invalid_request_error"), "invalid-request"],
    ["a failure of the provider", 500, "", "provider"],
    ["a gateway that waited in vain", 504, "<html>gateway timeout</html>", "provider"],
  ])("%s", (_, status, body, code) => {
    const error = modelErrorFromResponse({ status, body });
    expect(error.code).toBe(code);
    expect(error.status).toBe(status);
  });

  test.each([
    [{ type: "overloaded_error", message: "Overloaded" }, "overloaded"],
    [{ type: "rate_limit_error", message: "slow" }, "rate-limit"],
    [{ error: { type: "server_error", code: "server_error", message: "oops" } }, "provider"],
    [{ error: { code: "context_length_exceeded", message: "too long" } }, "context-overflow"],
    ["no idea", "provider"],
    [undefined, "provider"],
  ])("an error inside a stream has no status: %j", (body, code) => {
    expect(modelErrorFromResponse({ body })).toMatchObject({ code, status: undefined });
  });

  test("only temporary errors cause a retry", () => {
    const retryable = (status: number) => modelErrorFromResponse({ status }).retryable;
    expect([429, 500, 503, 529].map(retryable)).toEqual([true, true, true, true]);
    expect([400, 401, 402, 404, 413].map(retryable)).toEqual([false, false, false, false, false]);
  });

  test("the sentence has the place, the model, the remedy and the provider's words", () => {
    const error = modelErrorFromResponse({
      status: 404,
      body: openai("no such model", "invalid_request_error"),
      address: "http://127.0.0.1:1234/v1/chat/completions?key=secret",
      model: "local/llama",
    });
    expect(error.message).toBe(
      "127.0.0.1:1234 does not know the model local/llama; check its name and the address (404: no such model)",
    );
  });

  test("the provider's words are one line without control characters and HTML pages (S12)", () => {
    expect(modelErrorFromResponse({ status: 500, body: "a\n\u001b[31mb" }).message).toMatch(/\(500: a \[31mb\)$/);
    expect(modelErrorFromResponse({ status: 502, body: "<!doctype html><p>Bad gateway" }).message).toMatch(/\(502\)$/);
    expect(modelErrorFromResponse({ status: 500, body: "x".repeat(10_000) }).message.length).toBeLessThan(700);
  });
});

describe("Retry-After (F14)", () => {
  const wait = (headers: Record<string, string>) =>
    modelErrorFromResponse({ status: 429, headers: (name) => headers[name] }).retryAfter;

  test("in seconds", () => expect(wait({ "retry-after": "1.5" })).toBe(1500));
  test("in milliseconds, which is more exact", () => {
    expect(wait({ "retry-after": "2", "retry-after-ms": "1234" })).toBe(1234);
  });
  test("as a date", () => {
    const delay = wait({ "retry-after": new Date(Date.now() + 60_000).toUTCString() });
    expect(delay).toBeGreaterThan(30_000);
    expect(delay).toBeLessThanOrEqual(60_000);
  });
  test("as a date in the past", () => expect(wait({ "retry-after": "Mon, 01 Jan 2001 00:00:00 GMT" })).toBe(0));
  test("absent or not to be understood", () => {
    expect(wait({})).toBeUndefined();
    expect(wait({ "retry-after": "soon" })).toBeUndefined();
  });
});

describe("the words of the network", () => {
  const coded = (code: string, message = code) => Object.assign(new Error(message), { code });

  test.each([
    [
      new TypeError("fetch failed", { cause: coded("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:9") }),
      "unreachable",
    ],
    [new TypeError("fetch failed", { cause: new AggregateError([coded("EHOSTUNREACH")]) }), "unreachable"],
    [coded("ENOTFOUND", "getaddrinfo ENOTFOUND nowhere.invalid"), "unreachable"],
    [coded("DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate"), "unreachable"],
    [new TypeError("fetch failed"), "unreachable"],
    [coded("ECONNRESET", "socket hang up"), "broken-stream"],
    [new TypeError("terminated", { cause: coded("UND_ERR_SOCKET", "other side closed") }), "broken-stream"],
    [coded("UND_ERR_BODY_TIMEOUT", "Body Timeout Error"), "stalled"],
  ])("%s", (error, code) => {
    expect(modelErrorFromNetwork(error, "http://127.0.0.1:9/v1")).toMatchObject({
      code,
      retryable: true,
      cause: error,
    });
  });

  test("the sentence names the address", () => {
    const error = modelErrorFromNetwork(coded("ECONNREFUSED", "connect ECONNREFUSED"), "http://127.0.0.1:9/v1");
    expect(error?.message).toBe(
      "127.0.0.1:9 cannot be reached; check the address, and that the server runs (connect ECONNREFUSED)",
    );
  });

  test("other exceptions are not the network's", () => {
    expect(modelErrorFromNetwork(new TypeError("x is not a function"))).toBeUndefined();
    expect(modelErrorFromNetwork("ECONNRESET")).toBeUndefined();
  });
});

describe("each provider's own words", () => {
  const google = (code: number, status: string, message: string, details: object[] = []) => ({
    error: { code, status, message, details },
  });
  test.each([
    [
      "xAI, a prompt that is too long",
      400,
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      "context-overflow",
    ],
    [
      "Google, a prompt that is too long",
      400,
      google(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      ),
      "context-overflow",
    ],
    [
      "Bedrock, a prompt that is too long",
      400,
      { message: "Input is too long for requested model." },
      "context-overflow",
    ],
    [
      "Mistral, a prompt that is too long",
      400,
      {
        object: "error",
        message:
          "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        type: "invalid_request_error",
      },
      "context-overflow",
    ],
    [
      "Groq, a prompt that is too long",
      400,
      { error: { message: "Please reduce the length of the messages or completion.", type: "invalid_request_error" } },
      "context-overflow",
    ],
    [
      "DeepSeek, a prompt that is too long",
      400,
      { error: { message: "This model's maximum context length is 65536 tokens." } },
      "context-overflow",
    ],
    [
      "vLLM and TGI, a prompt that is too long",
      422,
      { error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192" },
      "context-overflow",
    ],
    [
      "Google, a bad key",
      400,
      google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
        { reason: "API_KEY_INVALID" },
      ]),
      "authentication",
    ],
    [
      "xAI, a bad key",
      400,
      { code: "Client specified an invalid argument", error: "Incorrect API key provided: xa***" },
      "authentication",
    ],
    [
      "Bedrock, a bad key",
      403,
      { message: "The security token included in the request is invalid." },
      "authentication",
    ],
    [
      "Google, the minute is used up",
      429,
      google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", [
        { violations: [{ quotaId: "GenerateRequestsPerMinutePerProject" }] },
      ]),
      "rate-limit",
    ],
    [
      "Google, the day is used up",
      429,
      google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota", [
        { violations: [{ quotaId: "GenerateRequestsPerDayPerProject-FreeTier" }] },
      ]),
      "quota",
    ],
    ["DeepSeek, no money", 402, { error: { message: "Insufficient Balance" } }, "quota"],
    ["OpenRouter, no money", 402, { error: { code: 402, message: "Insufficient credits" } }, "quota"],
    [
      "xAI, no money",
      403,
      { error: "Your team has either used all available credits or reached its monthly spending limit." },
      "quota",
    ],
    [
      "Groq, the minute is used up, told as too large",
      413,
      { error: { message: "Request too large for model on tokens per minute (TPM)", code: "rate_limit_exceeded" } },
      "rate-limit",
    ],
  ] as const)("%s", (_, status, body, code) => {
    expect(modelErrorFromResponse({ status, body }).code).toBe(code);
    expect(modelErrorFromResponse({ status, body: JSON.stringify(body) }).code).toBe(code);
  });

  test.each([
    ["Google is overloaded", google(503, "UNAVAILABLE", "The model is overloaded."), "overloaded"],
    ["Google's minute is used up", google(429, "RESOURCE_EXHAUSTED", "Slow down."), "rate-limit"],
    ["Google's own fault", google(500, "INTERNAL", "An internal error has occurred."), "provider"],
    [
      "OpenAI's context is full",
      {
        type: "error",
        code: "context_length_exceeded",
        message: "Your input exceeds the context window of this model.",
      },
      "context-overflow",
    ],
    [
      "OpenAI's minute is used up",
      { type: "error", code: "rate_limit_exceeded", message: "Rate limit reached." },
      "rate-limit",
    ],
    [
      "OpenAI's account is empty",
      { type: "error", code: "insufficient_quota", message: "You exceeded your current quota." },
      "quota",
    ],
    [
      "Bedrock's minute is used up",
      { type: "throttlingException", message: "Too many tokens, please wait." },
      "rate-limit",
    ],
    [
      "OpenRouter tells the status of the provider behind it",
      { error: { code: 502, message: "Provider returned error" } },
      "provider",
    ],
  ])("F14: inside a stream, where there is no status: %s", (_, body, code) => {
    expect(modelErrorFromResponse({ body }).code).toBe(code);
  });

  test.each([
    [
      google(429, "RESOURCE_EXHAUSTED", "Slow down.", [
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" },
      ]),
      34_500,
    ],
    [{ error: { message: "Rate limit reached. Please try again in 1m6.5s.", code: "rate_limit_exceeded" } }, 66_500],
    [{ error: { message: "Rate limit reached. Please try again in 250ms." } }, 250],
    [{ error: { message: "Please try again in a moment." } }, undefined],
  ])("F14: without a header, the wait that a report asks for is taken: %j", (body, wait) => {
    expect(modelErrorFromResponse({ status: 429, body }).retryAfter).toBe(wait);
  });

  test("F14: a header counts more than a sentence", () => {
    const headers = (name: string) => (name === "retry-after" ? "2" : undefined);
    const body = { error: { message: "Please try again in 9s." } };
    expect(modelErrorFromResponse({ status: 429, body, headers }).retryAfter).toBe(2000);
  });
});

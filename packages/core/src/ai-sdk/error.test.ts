import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import { fromLanguageModel } from "./language-model.ts";
import { failure, failureOf, finish, model, Recorder, throwing } from "./provider.fixture.ts";

describe("failures", () => {
  /** An error of a provider package, recognized by its name, because its class may come from another copy. */
  const named = (name: string, message: string, more: object = {}) =>
    Object.assign(new Error(message), { name, ...more });
  const callError = (statusCode: number, responseBody: string, responseHeaders = {}) =>
    named("AI_APICallError", "failed", {
      url: "https://api.acme.test/v1/x",
      statusCode,
      responseBody,
      responseHeaders,
    });

  test("a stream that stops without an end is broken, and its text is kept (F16)", async () => {
    const sink = new Recorder();
    const error = await failureOf([{ type: "text-delta", id: "t", delta: "half" }], sink);
    expect(error).toMatchObject({ name: "ModelError", code: "broken-stream", retryable: true });
    expect(sink.parts).toEqual([{ type: "text", text: "half" }]);
  });

  test.each([
    ["interrupted", "broken-stream"],
    ["error", "provider"],
  ] as const)("an answer that ended as %s is no answer", async (unified, code) => {
    expect(await failureOf([{ ...finish, finishReason: { unified, raw: "x" } }])).toMatchObject({ code });
  });

  test.each([
    [{ type: "overloaded_error", message: "Overloaded" }, "overloaded"],
    [{ message: "slow down", code: 429, statusCode: 429, data: {} }, "rate-limit"],
    [new Error("strange"), "provider"],
    [new TypeError("terminated"), "broken-stream"],
    ["just words", "provider"],
  ])("an error inside the stream ends it: %j (F14)", async (error, code) => {
    const sink = new Recorder();
    const failed = await failureOf(
      [{ type: "text-delta", id: "t", delta: "half" }, { type: "error", error }, finish],
      sink,
    );
    expect(failed).toMatchObject({ name: "ModelError", code });
    expect(sink.parts).toEqual([{ type: "text", text: "half" }]);
  });

  test("a socket that is cut in the stream", async () => {
    const cut = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) =>
        controller.error(new TypeError("terminated", { cause: named("SocketError", "other side closed") })),
    });
    expect(await failure(fromLanguageModel(model(() => cut)))).toMatchObject({ code: "broken-stream" });
  });

  test.each([
    [callError(401, '{"error":{"message":"bad key"}}'), "authentication"],
    [callError(429, "", { "retry-after": "3" }), "rate-limit"],
    [callError(400, '{"error":{"message":"prompt is too long"}}'), "context-overflow"],
    [
      named("AI_APICallError", "Cannot connect to API", {
        cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
      }),
      "unreachable",
    ],
    [named("AI_APICallError", "Failed to process successful response", { statusCode: 200 }), "broken-stream"],
    [named("AI_LoadAPIKeyError", "Acme API key is missing."), "authentication"],
    [named("AI_NoSuchModelError", "No such languageModel: x"), "unknown-model"],
    [named("AI_UnsupportedFunctionalityError", "'file' functionality not supported"), "invalid-request"],
    [named("AI_JSONParseError", "JSON parsing failed"), "broken-stream"],
    [named("AI_InvalidResponseDataError", "Response stream ended without a finish reason."), "broken-stream"],
    [new TypeError("fetch failed"), "unreachable"],
    [new RangeError("strange"), "provider"],
    [{ error: "no class at all" }, "provider"],
  ])("errors of a provider package: %s", async (thrown, code) => {
    expect(await throwing(thrown)).toMatchObject({ name: "ModelError", code });
  });

  test("the sentence names the place and the model, and the wait that the provider asks for is kept (F14)", async () => {
    expect(await throwing(callError(404, '{"error":{"message":"nope"}}'))).toMatchObject({
      status: 404,
      message: "api.acme.test does not know the model acme/large; check its name and the address (404: nope)",
    });
    expect(await throwing(callError(429, "", { "retry-after": "3" }))).toMatchObject({ retryAfter: 3000 });
  });
});

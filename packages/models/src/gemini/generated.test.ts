import fc from "fast-check";
import { expect, test } from "vitest";
import { eventOf } from "../testing/server.ts";
import { type Answered, answersTo } from "./ways.fixture.ts";

// Generated streams. The provider's package judges.

const signature = fc.option(fc.base64String({ minLength: 4, maxLength: 8 }), { nil: undefined });
const words = fc.string({ maxLength: 6, unit: "grapheme" });
const text = fc.record({ text: words, thought: fc.constantFrom(true, false, undefined), thoughtSignature: signature });
const id = fc.constantFrom("a", "b", "", undefined);
const args = fc.oneof(
  fc.dictionary(fc.constantFrom("at", "q"), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
  fc.constantFrom(undefined, null, '{"at":"x"}'),
);
const call = fc.record({
  functionCall: fc.record({ id, name: fc.constantFrom("look", "open"), args }),
  thoughtSignature: signature,
});
const toolType = fc.constantFrom("GOOGLE_SEARCH_WEB", "URL_CONTEXT");
const action = fc.oneof(
  fc.record({
    toolCall: fc.record({ toolType, id: fc.constantFrom("s1", "s2", ""), args: fc.constantFrom(undefined, { q: 1 }) }),
    thoughtSignature: signature,
  }),
  fc.record({
    toolResponse: fc.record({
      toolType,
      id: fc.constantFrom("s1", "s2", ""),
      response: fc.constantFrom(null, { r: 1 }),
    }),
    thoughtSignature: signature,
  }),
  fc.record({ executableCode: fc.record({ language: fc.constant("PYTHON"), code: fc.constantFrom("", "1") }) }),
  fc.record({
    codeExecutionResult: fc.record({ outcome: fc.constant("OUTCOME_OK"), output: fc.constantFrom(undefined, "1") }),
  }),
);
const file = fc.record({
  inlineData: fc.constant({ mimeType: "image/png", data: "QUJD" }),
  thoughtSignature: signature,
});
const part = fc.oneof({ weight: 5, arbitrary: text }, { weight: 2, arbitrary: call }, action, file, fc.constant({}));
const uri = fc.constantFrom("https://a.example/", "https://b.example/", "gs://c/d.pdf");
const title = fc.constantFrom("A", "", undefined);
const groundingChunk = fc.oneof(
  fc.record({ web: fc.record({ uri, title }) }),
  fc.record({ image: fc.record({ sourceUri: uri, imageUri: uri, title }) }),
  fc.record({ retrievedContext: fc.record({ uri, title }) }),
  fc.record({ maps: fc.record({ uri, title }) }),
  fc.constant({}),
);
const groundingMetadata = fc.option(fc.record({ groundingChunks: fc.array(groundingChunk, { maxLength: 3 }) }), {
  nil: undefined,
});
const content = fc.oneof(
  { weight: 8, arbitrary: fc.record({ role: fc.constant("model"), parts: fc.array(part, { maxLength: 4 }) }) },
  fc.constantFrom(undefined, null, {}),
);
const chunk = fc.oneof(
  { weight: 9, arbitrary: fc.record({ candidates: fc.tuple(fc.record({ content, groundingMetadata })) }) },
  fc.constantFrom<object>({}, { candidates: [] }, { responseId: "r" }, { promptFeedback: { safetyRatings: [] } }),
);
const finishReason = fc.constantFrom(
  ...["STOP", "STOP", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "MALFORMED_FUNCTION_CALL", "OTHER", "NEW_REASON"],
);
const count = fc.nat(1000);
const usageMetadata = fc.record({
  promptTokenCount: fc.integer({ min: 10, max: 1000 }),
  candidatesTokenCount: count,
  thoughtsTokenCount: fc.option(count, { nil: undefined }),
  cachedContentTokenCount: fc.nat(10),
});
const last = fc.oneof(
  { weight: 8, arbitrary: fc.record({ candidates: fc.tuple(fc.record({ content, finishReason })), usageMetadata }) },
  fc.constantFrom<object | undefined>(
    undefined,
    { promptFeedback: { blockReason: "SAFETY" } },
    { error: { code: 503, status: "UNAVAILABLE", message: "Overloaded" } },
    { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Slow down", details: [{ retryDelay: "7s" }] } },
  ),
);

/** The stored parts of an answer. */
const kept = ({ parts, error }: Answered) => ({ parts, error });

test("F13: our own driver makes the same parts of any stream as the provider's package", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 6 }), last, async (chunks, end) => {
      const stream = [...chunks, ...(end ? [end] : [])].map(eventOf).join("");
      const { own, theirs } = await answersTo([stream]);
      expect(kept(own)).toEqual(kept(theirs));
    }),
    { numRuns: process.env.BANYAN_LONG ? 5_000 : 150 },
  );
}, 600_000);

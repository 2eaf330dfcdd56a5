import fc from "fast-check";
import { expect, test } from "vitest";
import { joined } from "../testing/sink.ts";
import { GeminiAnswer } from "./answer.ts";
import { RepeatedChunks } from "./repeated-chunks.ts";

// Long streams of chunks with the same form. The expected result is known from the generator.

const endpoint = {
  id: "google/m",
  model: "m",
  format: "m",
  address: "http://h/v1",
  keyVariable: undefined,
  secrets: [],
};
const said = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }),
  fc.constantFrom('"', "\\", '\\"', '"}],"role":1', "<b>", "\n", "text", '"text":"', ': 7,"'),
);
const count = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 99_999 }) }, fc.constant(0));
const chunk = fc.record({ said, thought: fc.boolean(), prompt: count, output: count, odd: fc.nat(30) });
/** Ways to write the same JSON. */
const written = fc.constantFrom(
  (value: object) => JSON.stringify(value),
  (value: object) => JSON.stringify(value, null, 1).replace(/\n\s*/g, ""),
  (value: object) => JSON.stringify(value).replaceAll("<", "\\u003c"),
);

test("F13: a long answer is equal whether its chunks are parsed or only compared, and so are its counts", () => {
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 40, maxLength: 80 }), fc.nat(60), written, (chunks, change, write) => {
      const answer = new GeminiAnswer(endpoint);
      // Thoughts come first, in one run.
      const pieces = chunks.map((one, at) => ({ ...one, thought: at < change }));
      for (const { said: text, thought, prompt, output, odd } of pieces) {
        const parts = [{ text, ...(thought && { thought }) }];
        const usageMetadata = { promptTokenCount: prompt, candidatesTokenCount: output };
        const candidate = { content: { parts, role: "model" }, index: 0, ...(odd === 0 && { safetyRatings: [] }) };
        answer.data(write({ candidates: [candidate], usageMetadata, modelVersion: "m" }));
      }
      answer.data(write({ candidates: [{ finishReason: "STOP" }] }));
      answer.end();
      const textOf = (thoughts: boolean) =>
        pieces.map(({ said: text, thought }) => (thought === thoughts ? text : "")).join("");
      const last = (field: "prompt" | "output") => pieces.findLast((one) => one[field] > 0)?.[field] ?? 0;
      const parts = joined(answer.take());
      expect(parts.flatMap((part) => (part.type === "reasoning" ? part.text : [])).join("")).toBe(textOf(true));
      expect(parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("")).toBe(textOf(false));
      expect(parts.at(-1)).toMatchObject({ reason: "stop", usage: { input: last("prompt"), output: last("output") } });
    }),
    { numRuns: 200 },
  );
});

test("a chunk with other fields, no text or no JSON is never read without parsing", () => {
  const chunks = new RepeatedChunks();
  const heard: string[] = [];
  const of = (text: string, tokens: unknown = 5) => `{"parts":[{"text":"${text}"}],"tokens":${tokens},"index":0}`;
  const say = (text: string) => heard.push(text);
  for (const text of ["one", "two"]) {
    expect(chunks.read(of(text))).toBe(false);
    chunks.learn(of(text), text, say);
  }
  for (const text of ["three", 'fo\\"ur', "fi\\u0076e", ""]) expect(chunks.read(of(text, 123))).toBe(true);
  expect(heard).toEqual(["three", 'fo"ur', "five", ""]);
  expect(chunks.takeLast()).toBe(of("", 123));
  expect(chunks.takeLast()).toBeUndefined();
  const others = [
    ...[of("x", 0), of("x", ""), of("x", "1.5"), of("x", -1), of("x", '"1"'), of("x").replace("0}", '0,"more":1}')],
    ...[
      of('x"},{"text":"y'),
      of("x\ny"),
      of("x\\"),
      of("\\x"),
      of("x").slice(0, -1),
      of("x").replace("parts", "other"),
      "",
    ],
  ];
  for (const other of others) expect(chunks.read(other), other).toBe(false);
  expect(heard).toHaveLength(4);
});

test("F53: an empty text after the finish reason does not revoke the reason, in a long answer too", () => {
  const chunk = (text: string, more: object = {}) =>
    JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, ...more }], modelVersion: "m" });
  for (const length of [1, 40]) {
    const answer = new GeminiAnswer(endpoint);
    for (let index = 0; index < length; index++) answer.data(chunk(` word ${index}`));
    answer.data(chunk(" last.", { finishReason: "STOP" }));
    answer.data(chunk(""));
    answer.end();
    expect(answer.take().at(-1), `${length} chunks`).toMatchObject({ type: "finish", reason: "stop" });
  }
});

test("a number inside a string of the form is no count", () => {
  const chunks = new RepeatedChunks();
  const of = (text: string, digit: number) => `{"text":"${text}","modelVersion":"m\\": ${digit},x"}`;
  for (const text of ["one", "two"]) {
    chunks.read(of(text, 5));
    chunks.learn(of(text, 5), text, () => {});
  }
  expect(chunks.read(of("three", 5))).toBe(true);
  expect(chunks.read(of("three", 6))).toBe(false);
});

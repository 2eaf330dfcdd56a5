import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Json } from "../../conversation/part.ts";
import { call, type Scene, scriptedModel, text } from "../../testing/scripted-model.ts";
import { Agent } from "../agent.ts";
import { say } from "../directive.ts";
import { PartialJson } from "./partial-result.ts";

function partialsOf(pieces: readonly string[]): (Json | undefined)[] {
  const reader = new PartialJson();
  return pieces.map((piece) => {
    reader.push(piece);
    return reader.value;
  });
}

/** True if `partial` is the beginning of `whole`: strings and arrays may end early, and objects may lack names. */
function isBeginning(partial: Json | undefined, whole: Json): boolean {
  if (partial === undefined) return true;
  if (typeof partial === "string") return typeof whole === "string" && whole.startsWith(partial);
  if (typeof partial !== "object" || partial === null) return Object.is(partial, whole);
  if (typeof whole !== "object" || whole === null || Array.isArray(partial) !== Array.isArray(whole)) return false;
  return Object.entries(partial).every(
    ([name, inner]) => Object.hasOwn(whole, name) && isBeginning(inner, (whole as Record<string, Json>)[name] as Json),
  );
}

const cut = (text: string, sizes: readonly number[]): string[] => {
  const pieces: string[] = [];
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
};

const escaped = (text: string) =>
  text.replace(/[^\x20-\x7e\n]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("a result while the model writes it", () => {
  test("L2: is always a beginning of the next one, and at last the whole", () => {
    const stringUnit = fc.constantFrom(...'abc {}[],:`0"\\\n\u2028é😀');
    const value = fc.oneof(
      fc.dictionary(fc.oneof(fc.string({ unit: stringUnit }), fc.constant("__proto__")), fc.jsonValue({ stringUnit })),
      fc.array(fc.jsonValue({ stringUnit })),
      fc.string({ unit: stringUnit }),
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
    const form = fc.record({ indent: fc.constantFrom(0, 1, 4), isEscaped: fc.boolean(), isFenced: fc.boolean() });
    fc.assert(
      fc.property(value, sizes, form, (json, sizes, { indent, isEscaped, isFenced }) => {
        // JSON has no -0, and text no half characters.
        const whole: Json = JSON.parse(JSON.stringify(json).toWellFormed());
        const plain = JSON.stringify(whole, null, indent);
        const text = isEscaped ? escaped(plain) : plain;
        const partials = partialsOf(cut(isFenced ? `\`\`\`json\n${text}\n\`\`\`` : text, sizes));
        const wrong = partials.find((partial, at) => !isBeginning(partial, partials[at + 1] ?? whole));
        expect(wrong).toBeUndefined();
        expect(partials.at(-1)).toEqual(whole);
      }),
      { numRuns: process.env.BANYAN_LONG === "1" ? 5_000 : 150 },
    );
  });

  test("L2: never changes an earlier part when more text arrives, and is undefined for text that is no JSON", () => {
    const reader = new PartialJson();
    reader.push('{"a":["x');
    const first = reader.value;
    reader.push('y"],"b":tru');
    expect(first).toEqual({ a: ["x"] });
    expect(reader.value).toEqual({ a: ["xy"] });
    reader.push("e}");
    expect(reader.value).toEqual({ a: ["xy"], b: true });
    expect(partialsOf(["Rome is nice: ", '{"a":1}'])).toEqual([undefined, undefined]);
    expect(partialsOf(["[".repeat(1_000)])).toHaveLength(1);
  });

  test("L2: takes time in proportion to its length", () => {
    const rows = Array.from({ length: 3_000 }, (_, id) => ({ id, name: `row ${id}` }));
    const text = JSON.stringify({ rows, page: "x".repeat(200_000) });
    const reader = new PartialJson();
    const begin = performance.now();
    for (const piece of cut(text, [4])) {
      reader.push(piece);
      void reader.value;
    }
    expect(reader.value).toEqual(JSON.parse(text));
    expect(performance.now() - begin).toBeLessThan(2_000);
  });
});

const output = z.object({
  city: z.string(),
  days: z.number().default(3),
  begins: z.iso.date().transform((text) => new Date(text)),
  stops: z.array(z.object({ at: z.string() })).optional(),
});

describe("chat.partialResults()", () => {
  const wrong = { city: "R" };
  const rome = { city: "Rome", begins: "2026-11-29" };

  test.each([
    { mode: "chat" as const, script: [[text(...JSON.stringify(wrong))], [text(...JSON.stringify(rome))]] },
    {
      mode: "task" as const,
      script: [
        [text("I think first. "), call("finish_task", { result: wrong })],
        [call("finish_task", { result: rome, summary: "Rome, of course." })],
      ],
    },
  ])("L2: has the beginnings of all results in $mode mode, and the turn the checked one", async ({ mode, script }) => {
    const chat = new Agent({ model: scriptedModel(script as Scene[], { pace: 1 }), output, mode }).chat(
      say("Plan a trip."),
    );
    const partials = [];
    for await (const partial of chat.partialResults()) partials.push(partial);
    expect(partials.length).toBeGreaterThan(mode === "chat" ? 5 : 1);
    expect(partials).toContainEqual(wrong);
    expect(partials.at(-1)).toEqual(rome);
    expect(partials.every((partial) => isBeginning(partial as Json, wrong) || isBeginning(partial as Json, rome))).toBe(
      true,
    );
    expect((await chat.turn).result).toEqual({ ...rome, days: 3, begins: new Date("2026-11-29") });
  });

  test("L2: ends with the error of the turn", async () => {
    const agent = new Agent({ model: scriptedModel(['{"city":1}', '{"city":2}']), output });
    const partials: unknown[] = [];
    const reading = (async () => {
      for await (const partial of agent.chat(say("Plan a trip.")).partialResults()) partials.push(partial);
    })();
    await expect(reading).rejects.toMatchObject({ name: "TurnError", code: "output" });
    expect(partials.at(-1)).toEqual({ city: 2 });
  });

  test("L2: needs a schema of the result", () => {
    const chat = new Agent({ model: scriptedModel([]) }).chat(say("Hello"));
    expect(() => chat.partialResults()).toThrow(
      "partialResults needs a schema of the result: new Agent({ model, output }).",
    );
  });

  test("L2: has the type of the schema, with all names optional and JSON in place of objects of classes", () => {
    const chat = new Agent({ model: scriptedModel([]), output }).chat(say("Hello"));
    const first = async () => {
      for await (const item of chat.partialResults()) return item;
      return expect.unreachable();
    };
    expectTypeOf(first).returns.resolves.toEqualTypeOf<{
      readonly city?: string;
      readonly days?: number;
      readonly begins?: Json;
      readonly stops?: readonly { readonly at?: string }[] | undefined;
    }>();
    const json = new Agent({ model: scriptedModel([]), output: { type: "object" } }).chat(say("Hello"));
    const firstJson = async () => {
      for await (const item of json.partialResults()) return item;
      return expect.unreachable();
    };
    expectTypeOf(firstJson).returns.resolves.toEqualTypeOf<Json>();
  });
});

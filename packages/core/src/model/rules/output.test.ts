import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { interpretInput } from "../../conversation/checked/meant-input.ts";
import type { Json } from "../../conversation/part.ts";
import { jsonSchemaOf } from "../../toolbox/toolbox.ts";
import { legalOutput } from "./output.ts";
import { rulesFor } from "./providers.ts";

const openAI = rulesFor("openai.responses", "gpt-5");
const anthropic = rulesFor("anthropic.messages", "claude-sonnet-4-5");

const legal = (schema: z.ZodType, rules = openAI) => legalOutput(jsonSchemaOf("output", schema) as Json, rules);

describe("the schema of a result for a provider", () => {
  test("L2: requires all names, closes all objects, and lets optional names be null", () => {
    const schema = z.object({
      city: z.string().min(2).describe("Where to go"),
      days: z.number().int().min(1).optional(),
      kind: z.enum(["train", "plane"]).default("train"),
      stops: z.array(z.object({ at: z.iso.datetime().optional(), note: z.string().nullable() })).max(3),
    });
    expect(legal(schema)).toEqual({
      type: "object",
      properties: {
        city: { description: "Where to go", type: "string" },
        days: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] },
        kind: { anyOf: [{ type: "string", enum: ["train", "plane"] }, { type: "null" }] },
        stops: {
          type: "array",
          maxItems: 3,
          items: {
            type: "object",
            properties: {
              at: { anyOf: [expect.objectContaining({ type: "string", format: "date-time" }), { type: "null" }] },
              note: { anyOf: [{ type: "string" }, { type: "null" }] },
            },
            required: ["at", "note"],
            additionalProperties: false,
          },
        },
      },
      required: ["city", "days", "kind", "stops"],
      additionalProperties: false,
    });
  });

  test("L2: keeps up to ten optional names for Anthropic, and no reference", () => {
    const names = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, z.string().optional()]));
    expect(legal(z.object({ city: z.string(), ...names(10) }), anthropic)).toMatchObject({ required: ["city"] });
    expect(legal(z.object(names(11)), anthropic)).toBeUndefined();
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    expect(legal(tree)).toMatchObject({ properties: { children: { items: { $ref: "#" } } } });
    expect(legal(tree, anthropic)).toBeUndefined();
    expect(legal(z.object({ "a name": z.string() }), anthropic)).toBeUndefined();
  });

  test.each([
    ["a list at the top", z.array(z.string())],
    ["two objects at the top", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ["names that the schema does not list", z.object({ byName: z.record(z.string(), z.number()) })],
    ["an object of any names", z.looseObject({ a: z.string() })],
    ["any value", z.object({ a: z.unknown() })],
    ["a tuple", z.object({ a: z.tuple([z.string(), z.number()]) })],
    ["an intersection", z.object({ a: z.string().and(z.string().min(2)) })],
    ["a name with half a character", z.object({ "\ud800": z.string() })],
  ])("L2: is only in the instructions for %s", (_, schema) => {
    expect(legal(schema)).toBeUndefined();
  });

  test.each([
    ["groq.chat", "openai/gpt-oss-120b"],
    ["deepseek.chat", "deepseek-chat"],
    ["anthropic.messages", "claude-sonnet-4-20250514"],
    ["anthropic.messages", "claude-3-7-sonnet-latest"],
    ["amazon-bedrock", "anthropic.claude-3-haiku"],
  ])("L2: is only in the instructions at %s for %s", (provider, model) => {
    expect(legal(z.object({ a: z.string() }), rulesFor(provider, model))).toBeUndefined();
  });

  test("L2: any value of the legal schema fits the original, once null for an optional name is absent", () => {
    fc.assert(
      fc.property(
        schemas.chain((schema) => fc.tuple(fc.constant(schema), fc.infiniteStream(fc.nat(997)))),
        ([schema, choices]) => {
          const { output } = openAI;
          const strict = legalOutput(schema, { ...openAI, output });
          expect(strict).toBeDefined();
          expect(openPlaces(strict as Json)).toEqual([]);
          const value = sampleOf(strict as Json, () => choices.next().value ?? 0);
          const meant = interpretInput(schema, value) ?? value;
          const { errors } = new Validator(schema as object, "2020-12").validate(meant);
          expect(errors, JSON.stringify({ schema, value, meant })).toEqual([]);
        },
      ),
      { numRuns: process.env.BANYAN_LONG === "1" ? 5_000 : 200 },
    );
  });
});

const names = fc.constantFrom("a", "b", "c", "default", "__proto__", "null");

const { root: schemas } = fc.letrec<{ root: Json; one: Json }>((tie) => ({
  root: fc
    .tuple(
      fc.uniqueArray(fc.tuple(names, tie("one"), fc.boolean()), { maxLength: 4, selector: ([name]) => name }),
      fc.boolean(),
    )
    .map(([all, isClosed]) => ({
      type: "object",
      properties: Object.fromEntries(all.map(([name, schema]) => [name, schema])),
      required: all.filter(([, , isNeeded]) => isNeeded).map(([name]) => name),
      ...(isClosed && { additionalProperties: false }),
    })),
  one: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(
      { type: "string" },
      { type: "integer" },
      { type: "boolean" },
      { type: "null" },
      { type: ["string", "null"] },
    ),
    fc
      .uniqueArray(fc.constantFrom<Json>("x", "y", 1, 2.5, true, null), { minLength: 1 })
      .map((values) => ({ enum: values })),
    fc.constantFrom<Json>("x", 7, null).map((value) => ({ const: value })),
    tie("root"),
    tie("one").map((items) => ({ type: "array", items })),
    fc.array(tie("one"), { minLength: 1, maxLength: 3 }).map((branches) => ({ anyOf: branches })),
  ),
}));

type Keywords = Readonly<Record<string, Json>>;

/** Objects of a schema that break a demand of strict mode, and schemas without a type. */
function openPlaces(schema: Json): Json[] {
  const { type, properties, required, additionalProperties, items, anyOf } = schema as Keywords;
  const inner = [
    ...Object.values((properties ?? {}) as Keywords),
    ...((anyOf ?? []) as Json[]),
    ...(items ? [items] : []),
  ];
  const names = Object.keys((properties ?? {}) as object).toSorted();
  const isClosed =
    JSON.stringify([...((required ?? []) as string[])].sort()) === JSON.stringify(names) &&
    additionalProperties === false;
  const isOpen = type === "object" ? !isClosed : type === undefined && anyOf === undefined;
  return [...(isOpen ? [schema] : []), ...inner.flatMap(openPlaces)];
}

/** A value of a schema in strict form, with the branches and values that `choose` picks. */
function sampleOf(schema: Json, choose: () => number): Json {
  const { type, properties, items, anyOf, enum: values } = schema as Keywords;
  const pick = (from: Json) => (from as Json[])[choose() % (from as Json[]).length] as Json;
  if (anyOf) return sampleOf(pick(anyOf), choose);
  if (values) return pick(values);
  switch (type) {
    case "object":
      return Object.fromEntries(
        Object.entries(properties as Keywords).map(([name, one]) => [name, sampleOf(one, choose)]),
      );
    case "array":
      return Array.from({ length: choose() % 3 }, () => sampleOf(items as Json, choose));
    case "string":
      return ["", "null", "x", "7"][choose() % 4] as string;
    case "integer":
      return choose();
    case "boolean":
      return choose() % 2 === 0;
    default:
      return null;
  }
}

import { describe, expect, test } from "vitest";
import { inputSchema } from "./input-schema.ts";

test("a schema is passed on as it is", () => {
  const schema = {
    type: "object",
    description: "All of it.",
    properties: {
      id: { type: "string", enum: ["a", "b"], default: { $ref: "nothing" } },
      list: { type: "array", items: { $ref: "#/$defs/item" } },
      self: { $ref: "#" },
    },
    required: ["id"],
    additionalProperties: false,
    $defs: { item: { type: "integer", minimum: 1 }, "a/b": { type: "null" } },
  };
  expect(inputSchema(schema)).toEqual({ schema, unread: [] });
});

describe("the server checks what the engine should not check", () => {
  test("regular expressions, which the model reads instead", () => {
    const given = {
      type: "object",
      properties: { day: { type: "string", pattern: "^(a+)+$", description: "A day." } },
    };
    expect(inputSchema(given).schema).toEqual({
      type: "object",
      properties: { day: { type: "string", description: "A day. Matches ^(a+)+$" } },
    });
  });

  test("names by pattern, and with them that there are no other names", () => {
    const given = { type: "object", patternProperties: { "^x-": {} }, additionalProperties: false };
    expect(inputSchema(given).schema).toEqual({ type: "object", properties: {} });
  });

  test("the engine ignores the schema's origin and references without a target", () => {
    const given = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "https://example.com/a",
      type: "object",
      properties: { a: { $ref: "https://example.com/b" }, b: { $ref: "#/$defs/none" }, c: { $ref: 5 } },
    };
    expect(inputSchema(given).schema).toEqual({ type: "object", properties: { a: {}, b: {}, c: {} } });
  });

  test("a property may have the name of a keyword", () => {
    const given = { type: "object", properties: { pattern: { type: "string" }, $id: { type: "string" }, id: true } };
    expect(inputSchema(given).schema).toEqual(given);
  });

  test("a schema without end", () => {
    let deep: object = {};
    for (let level = 0; level < 10_000; level += 1) deep = { type: "object", properties: { a: deep } };
    expect(inputSchema(deep as Record<string, unknown>).schema).toEqual({ type: "object", properties: {} });
  });
});

describe("F43: schemas of other versions and dialects keep their meaning", () => {
  test.each<[string, object, object]>([
    ["any type", { type: "any", description: "A." }, { description: "A." }],
    ["a type of another language", { type: "str" }, { type: "string" }],
    ["types of which one is any", { type: ["string", "any"] }, {}],
    ["nullable", { type: "string", nullable: true }, { type: ["string", "null"] }],
    [
      "nullable, of a list of values",
      { type: "string", enum: ["a"], nullable: true },
      { type: ["string", "null"], enum: ["a", null] },
    ],
    ["not nullable", { type: "string", nullable: false }, { type: "string" }],
    [
      "a bound that excludes, of draft 4",
      { type: "integer", minimum: 1, exclusiveMinimum: true },
      { type: "integer", exclusiveMinimum: 1 },
    ],
    ["a bound that includes, of draft 4", { maximum: 1, exclusiveMaximum: false }, { maximum: 1 }],
    ["no bound to exclude", { exclusiveMaximum: true }, {}],
    [
      "items one by one, of draft 7",
      { items: [{ type: "any" }], additionalItems: false },
      { prefixItems: [{}], items: false },
    ],
  ])("%s", (_, given, meant) => {
    const schema = { type: "object", properties: { a: given } };
    expect(inputSchema(schema)).toEqual({ schema: { type: "object", properties: { a: meant } }, unread: [] });
  });

  test('draft 3 puts "required" into the property', () => {
    const given = { type: "object", properties: { a: { type: "string", required: true }, b: { required: false } } };
    const schema = { type: "object", required: ["a"], properties: { a: { type: "string" }, b: {} } };
    expect(inputSchema(given)).toEqual({ schema, unread: [] });
  });

  test.each<[object, RegExp]>([
    [{ type: "moon" }, /"moon" is not a type/],
    [{ minimum: "1" }, /minimum is "1", not a number/],
    [{ enum: "a" }, /enum is "a", not a list/],
    [{ $ref: "#/lost" }, /leads nowhere/],
    [{ items: "x" }, /items is "x", not a schema/],
  ])("the server checks the unreadable part %j, and a notice names it", (given, why) => {
    const { schema, unread } = inputSchema({ type: "object", properties: { a: { description: "A.", ...given } } });
    expect(schema.properties).toEqual({ a: { description: "A." } });
    expect(unread).toEqual([expect.stringMatching(why)]);
  });

  test("a reference to an unreadable part accepts any value", () => {
    const given = {
      type: "object",
      properties: { a: { $ref: "#/patternProperties/x" } },
      patternProperties: { x: { type: "string" } },
    };
    expect(inputSchema(given)).toEqual({
      schema: { type: "object", properties: {} },
      unread: [expect.stringMatching(/nowhere/)],
    });
  });
});

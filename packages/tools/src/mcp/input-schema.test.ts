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
  expect(inputSchema(schema)).toEqual(schema);
});

describe("what the engine should not check is left to the server", () => {
  test("regular expressions, which the model reads instead", () => {
    const given = {
      type: "object",
      properties: { day: { type: "string", pattern: "^(a+)+$", description: "A day." } },
    };
    expect(inputSchema(given)).toEqual({
      type: "object",
      properties: { day: { type: "string", description: "A day. Matches ^(a+)+$" } },
    });
  });

  test("names by pattern, and with them that there are no other names", () => {
    const given = { type: "object", patternProperties: { "^x-": {} }, additionalProperties: false };
    expect(inputSchema(given)).toEqual({ type: "object", properties: {} });
  });

  test("where it comes from, and references that lead nowhere", () => {
    const given = {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "https://example.com/a",
      type: "object",
      properties: { a: { $ref: "https://example.com/b" }, b: { $ref: "#/$defs/none" }, c: { $ref: 5 } },
    };
    expect(inputSchema(given)).toEqual({ type: "object", properties: { a: {}, b: {}, c: {} } });
  });

  test("a property of any name is one all the same", () => {
    const given = { type: "object", properties: { pattern: { type: "string" }, $id: { type: "string" }, id: true } };
    expect(inputSchema(given)).toEqual(given);
  });

  test("a schema without end", () => {
    let deep: object = {};
    for (let level = 0; level < 10_000; level += 1) deep = { type: "object", properties: { a: deep } };
    expect(inputSchema(deep as Record<string, unknown>)).toEqual({ type: "object", properties: {} });
  });
});

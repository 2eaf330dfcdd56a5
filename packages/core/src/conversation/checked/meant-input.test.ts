import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { defineTool } from "../../ports/define-tool.ts";
import type { JsonSchema } from "../../ports/tool-values.ts";
import { call, rawCall, scriptedModel } from "../../testing/index.ts";
import type { Json } from "../part.ts";
import { interpretInput } from "./meant-input.ts";

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: "object",
  properties,
  required: [...required],
});

describe("F64: arguments as the model meant them", () => {
  const list = { type: "array", items: { type: "string" } };
  const user = object({ name: { type: "string" } });
  const kind = (name: string, properties: Record<string, object>) =>
    object({ kind: { const: name }, ...properties }, ["kind"]);

  test.each<[string, object, Json, Json | undefined]>([
    ["args-null", object({}), null, {}],
    ["a list of nothing", object({}), [], {}],
    ["args-quoted-empty", object({}), "", {}],
    [
      "args-as-text",
      object({ tags: list, user }),
      { tags: '["a","b"]', user: '{"name":"Ada"}' },
      { tags: ["a", "b"], user: { name: "Ada" } },
    ],
    ["a number", object({ count: { type: "integer" } }), { count: "3" }, { count: 3 }],
    ["a fraction where whole numbers are wanted", object({ count: { type: "integer" } }), { count: "3.5" }, undefined],
    ["yes or no", object({ all: { type: "boolean" } }), { all: "true" }, { all: true }],
    ["a word where a number is wanted", object({ count: { type: "integer" } }), { count: "three" }, undefined],
    [
      "a text that looks like a list, where a text fits",
      object({ a: { type: ["string", "array"] } }),
      { a: "[1]" },
      undefined,
    ],
    ["the same in a union", object({ a: { anyOf: [{ type: "string" }, list] } }), { a: "[1]" }, undefined],
    ["where anything fits", object({ a: {} }), { a: "[1]" }, undefined],
    ["an enum of numbers", object({ a: { enum: [1, 2] } }), { a: "2" }, { a: 2 }],
    ["encoded twice", object({ a: list }), { a: '"[\\"x\\"]"' }, { a: ["x"] }],
    [
      "inside of lists",
      object({ a: { type: "array", items: user } }),
      { a: ['{"name":"Ada"}'] },
      { a: [{ name: "Ada" }] },
    ],
    [
      "in names that the schema does not list",
      { type: "object", additionalProperties: { type: "number" } },
      { a: "1" },
      { a: 1 },
    ],
    ["null for an optional name (B82)", object({ a: list }), { a: null }, {}],
    [
      "null for an optional name in the branch that the value has (B82)",
      object({ a: { anyOf: [{ type: "null" }, kind("x", { at: list }), kind("y", { at: { type: "null" } })] } }),
      { a: { kind: "x", at: null } },
      { a: { kind: "x" } },
    ],
    [
      "null for an optional name that the branch allows (B82)",
      object({ a: { oneOf: [kind("x", { at: list }), kind("y", { at: { type: "null" } })] } }),
      { a: { kind: "y", at: null } },
      undefined,
    ],
    [
      "null for an optional name beside branches (B82)",
      { ...object({ a: list, b: list }), anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { a: ["x"], b: null },
      { a: ["x"] },
    ],
  ])("%s", (_, schema, input, meant) => expect(interpretInput(schema, input)).toEqual(meant));

  /** A value with its schema, and the value as models encode it: any part that is no string may be a string. */
  const encoded = fc.letrec<{ any: { schema: object; value: Json; sent: Json } }>((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      fc.string().map((value) => ({ schema: { type: "string" }, value, sent: value })),
      fc.tuple(fc.integer(), fc.boolean()).map(([value, asText]) => ({
        schema: { type: "integer" },
        value,
        sent: asText ? String(value) : value,
      })),
      fc.tuple(fc.array(tie("any"), { maxLength: 1 }), fc.nat(2)).map(([items, times]) => ({
        schema: { type: "array", items: items[0]?.schema ?? {} },
        value: items.map(({ value }) => value),
        sent: asText(
          items.map(({ sent }) => sent),
          times,
        ),
      })),
      fc
        .tuple(fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), tie("any"), { maxKeys: 3 }), fc.nat(2))
        .map(([fields, times]) => {
          const pick = <T>(of: (field: { schema: object; value: Json; sent: Json }) => T) =>
            Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, of(field)]));
          return {
            schema: { type: "object", properties: pick(({ schema }) => schema) },
            value: pick(({ value }) => value),
            sent: asText(
              pick(({ sent }) => sent),
              times,
            ),
          };
        }),
    ),
  })).any;
  function asText(value: Json, times: number): Json {
    let sent = value;
    for (let time = 0; time < times; time++) sent = JSON.stringify(sent);
    return sent;
  }

  test("a value that was encoded as a string is decoded, and a text stays a text", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), encoded, { maxKeys: 3 }), (fields) => {
        const of = (key: "schema" | "value" | "sent") =>
          Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field[key]])) as Record<string, Json>;
        const schema = { type: "object", properties: of("schema") };
        expect(interpretInput(schema, of("sent")) ?? of("sent")).toEqual(of("value"));
        expect(interpretInput(schema, of("value"))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  test.each(["null", "[]", '""', '"{}"', ""])(
    "a call with the arguments %j runs, where none are needed",
    async (written) => {
      const seen: unknown[] = [];
      const look = defineTool({
        name: "look",
        description: "Looks.",
        input: { type: "object", properties: { at: { type: "string" } } },
        effects: "none",
        execute: (input: unknown) => {
          seen.push(input);
          return "seen";
        },
      });
      const model = scriptedModel([[rawCall("look", written)], "Done."]);
      await new Agent({ model, tools: [look] }).send("Look.");
      expect(seen).toEqual([{}]);
    },
  );

  test("result-twice-encoded: the result of a task is the object that is demanded", async () => {
    const output = object({ n: { type: "integer" }, name: { type: "string" } }, ["n", "name"]);
    const model = scriptedModel([[call("finish_task", { result: '{"n":3,"name":"Ada"}' })]]);
    const turn = await new Agent({ model, mode: "task", output: output as JsonSchema }).send("Count.");
    expect(turn.result).toEqual({ n: 3, name: "Ada" });
  });
});

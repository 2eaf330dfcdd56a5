import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { JsonSchema } from "../ports/tool-values.ts";
import { call, scriptedModel } from "../testing/scripted-model.ts";

const model = scriptedModel(["ok"]);
const toolOf = (properties: object, more: object = {}) =>
  defineTool({
    name: "act",
    description: "Acts.",
    input: { type: "object", properties, ...more } as JsonSchema,
    effects: "none",
    execute: (input) => input,
  });

describe("F43: an unusable schema fails when the agent is made, with the tool and the place", () => {
  test.each<[object, object, RegExp]>([
    [
      { id: { type: "string", pattern: "[a-" } },
      {},
      /tool "act" cannot be used: at properties\.id: its pattern is no regular expression/,
    ],
    [{ id: { $ref: "#/$defs/none" } }, {}, /at properties\.id: \$ref leads to "#\/\$defs\/none", which is nowhere/],
    [
      { a: { items: { anyOf: [{ $ref: "https://example.com/a" }] } } },
      {},
      /at properties\.a\.items\.anyOf\.0: \$ref leads to/,
    ],
    [{ a: { $ref: "#/properties/a" } }, {}, /at properties\.a: its references lead back to itself, so no value can/],
    [
      { a: { $ref: "#/$defs/b" } },
      { $defs: { b: { anyOf: [{ type: "null" }, { $ref: "#/properties/a" }] } } },
      /at properties\.a: its references lead back to itself/,
    ],
    [{ a: { type: "any" } }, {}, /at properties\.a: "any" is not a type; the types are string, /],
    [
      { a: { type: "integer", minimum: 1, exclusiveMinimum: true } },
      {},
      /at properties\.a: exclusiveMinimum is true, not a number/,
    ],
    [{ a: { enum: "x" } }, {}, /enum is "x", not a list/],
    [{}, { required: "a" }, /at the top: required is "a", not a list of names/],
    [{}, { patternProperties: { "(": {} } }, /at the top: its pattern is no regular expression/],
    [{ a: 5 }, {}, /at the top: properties contains a value that is not a schema/],
  ])("%j %j", (properties, more, why) => {
    expect(() => new Agent({ model, tools: [toolOf(properties, more)] })).toThrow(why);
  });

  test("in the output of a task too", () => {
    const output = { type: "object", properties: { a: { pattern: "(" } } } as const;
    expect(() => new Agent({ model, mode: "task", output })).toThrow(
      /"output" cannot be used: at properties\.a: its pattern/,
    );
  });

  test("usable schemas pass: references to all possible places, properties of any name, data that resembles a schema", () => {
    const properties = {
      pattern: { type: "string", default: { type: "any" }, examples: [{ pattern: "(" }] },
      $ref: { const: { $ref: "nothing" } },
      type: { $ref: "#/$defs/a~1b" },
      self: { $ref: "#" },
      named: { $ref: "#there" },
      list: { type: ["array", "null"], items: { $ref: "#/properties/pattern" }, minItems: 1 },
    };
    const $defs = { "a/b": { type: "integer" }, c: { $anchor: "there", type: "null" } };
    expect(() => new Agent({ model, tools: [toolOf(properties, { $defs })] })).not.toThrow();
  });
});

describe("B82: null for an optional value counts as absent", () => {
  async function sent(properties: object, input: Parameters<typeof call>[1], more: object = {}): Promise<unknown> {
    const scripted = scriptedModel([[call("act", input)], "ok"]);
    await new Agent({ model: scripted, tools: [toolOf(properties, more)] }).send("go");
    const last = scripted.requests[1]?.messages.at(-1);
    const [result] = last?.role === "assistant" ? last.results : [];
    return result?.failed ? result.output : JSON.parse(result?.output ?? "");
  }

  test("at the top, in objects, in lists, and behind references", async () => {
    const inner = { type: "object", properties: { x: { type: "string" } } };
    const properties = { a: { type: "integer" }, b: inner, c: { type: "array", items: { $ref: "#/$defs/inner" } } };
    const input = { a: null, b: { x: null }, c: [{ x: null }, { x: "y" }] };
    expect(await sent(properties, input, { $defs: { inner } })).toEqual({ b: {}, c: [{}, { x: "y" }] });
  });

  test("null stays if the schema allows it, also beside a value that does not", async () => {
    const properties = {
      a: { type: ["string", "null"] },
      b: { anyOf: [{ type: "string" }, { type: "null" }] },
      c: { type: "string" },
    };
    expect(await sent(properties, { a: null, b: null })).toEqual({ a: null, b: null });
    expect(await sent(properties, { a: null, b: null, c: null })).toEqual({ a: null, b: null });
  });

  test("a required value is still demanded, and an unknown name stays", async () => {
    expect(await sent({ a: { type: "string" } }, { a: null }, { required: ["a"] })).toMatch(
      /do not match its schema: at a: /,
    );
    expect(await sent({ a: { type: "string" } }, { a: null, b: null }, { additionalProperties: false })).toMatch(
      /do not match its schema/,
    );
  });
});

import type { Json } from "@banyan/core";
import { type ModelDriver, rulesFor, withProviderRules } from "@banyan/core/drivers";
import { expect, test } from "vitest";
import { answerOf } from "../sink.ts";
import { Odd } from "./odd-conversation.fixture.ts";

const PROVIDERS = ["anthropic.messages", "openai.responses", "google.generative-ai", "local.chat"] as const;
const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 };

/** Arguments with every property that a schema names, at any depth. */
function filled(schema: Json | undefined): Json {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "x";
  const { properties, items, type } = schema as Readonly<Record<string, Json>>;
  if (type === "array") return [filled(items)];
  if (typeof properties !== "object" || properties === null) return "x";
  return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, filled(inner)]));
}

/** A model that calls each offered tool, with arguments in pieces. */
function calling(seen: Json[]): ModelDriver {
  return {
    id: "local/m",
    family: "test",
    async stream({ tools }, sink) {
      for (const [index, { name, input }] of tools.entries()) {
        const text = JSON.stringify(filled(input));
        seen.push(JSON.parse(text));
        sink.push([{ type: "call", index, id: `c${index}`, tool: name }]);
        for (const piece of text.match(/.{1,7}/gsu) ?? []) sink.push([{ type: "call-input", index, text: piece }]);
        sink.push([{ type: "call-end", index }]);
      }
      sink.push([{ type: "finish", reason: "calls", usage }]);
    },
  };
}

test.each(PROVIDERS)(
  "F45, F49: a call of each tool comes back under the names of its own schema, at %s",
  async (provider) => {
    for (let seed = 1; seed <= 100; seed++) {
      const odd = new Odd(seed);
      const tools = Array.from({ length: 5 }, () => odd.tool());
      const sent: Json[] = [];
      const driver = withProviderRules(calling(sent), { rules: rulesFor(provider, "m"), provider: "local" });
      const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "Go" }] }];
      const request = { instructions: "", messages, tools, toolChoice: "auto", settings: {} } as const;
      const parts = await answerOf(driver, request);
      expect(parts.flatMap((part) => (part.type === "call" ? part.tool : []))).toEqual(tools.map(({ name }) => name));
      const inputs = parts.flatMap((part) => (part.type === "call-input" ? JSON.parse(part.text) : []));
      for (const [index, { input }] of tools.entries()) {
        const known = JSON.stringify(input);
        const keys = keysIn(inputs[index]);
        expect(keys.length, `seed ${seed}`).toBe(keysIn(sent[index]).length);
        for (const key of keys) expect(known, `seed ${seed}`).toContain(JSON.stringify(key));
      }
    }
  },
);

function keysIn(value: Json | undefined): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(keysIn);
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysIn(inner)]);
}

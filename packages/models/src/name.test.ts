import { describe, expect, test } from "vitest";
import { builtInAliases, parseName } from "./name.ts";
import { lookUp } from "./provider/catalogue.ts";
import { ModelChoiceError } from "./provider/model-choice-error.ts";
import { providers } from "./providers.ts";

const parsed = (name: string, aliases = {}) => {
  const { id, provider, model, effort } = parseName(name, aliases);
  return [id, provider.name, model, effort];
};

describe("an effort after the last colon", () => {
  test.each(["none", "minimal", "low", "medium", "high", "max"])("%s", (effort) => {
    const name = `anthropic/claude-sonnet-5:${effort}`;
    expect(parsed(name)).toEqual([name, "anthropic", "claude-sonnet-5", effort]);
  });

  test.each([
    ["ollama/qwen3:8b", "qwen3:8b", undefined],
    ["ollama/qwen3:8b:high", "qwen3:8b", "high"],
    ["ollama/qwen3:highest", "qwen3:highest", undefined],
    ["ollama/qwen3:High", "qwen3:High", undefined],
    ["ollama/high:8b", "high:8b", undefined],
    ["openrouter/meta/llama:free:low", "meta/llama:free", "low"],
    ["amazon-bedrock/us.anthropic.claude-v1:0", "us.anthropic.claude-v1:0", undefined],
    ["ollama/qwen3:", "qwen3:", undefined],
    ["ollama/:high", "", "high"],
  ])("%s is the model %j with the effort %s", (name, model, effort) => {
    if (model === "") expect(() => parseName(name)).toThrow(ModelChoiceError);
    else expect(parsed(name).slice(2)).toEqual([model, effort]);
  });
});

describe("short names", () => {
  test.each(Object.keys(builtInAliases))("%s stands for a model that the catalogue knows", async (alias) => {
    const { provider, model, id } = parseName(alias);
    expect(id).toBe(builtInAliases[alias]);
    expect(await lookUp(provider, model)).toHaveProperty("price");
  });

  test("never equal the name of a provider", () => {
    const names = providers.map(({ name }) => name);
    expect(Object.keys(builtInAliases).filter((alias) => names.includes(alias))).toEqual([]);
  });

  test("take an effort", () => {
    expect(parsed("haiku:low")).toEqual(["anthropic/claude-haiku-4-5:low", "anthropic", "claude-haiku-4-5", "low"]);
  });

  const mine = { quick: "openai/gpt-5.4-mini:low", sonnet: "openrouter/anthropic/claude-sonnet-5", q: "quick" };

  test("of the user precede the built-in names", () => {
    expect(parsed("sonnet", mine)).toEqual([mine.sonnet, "openrouter", "anthropic/claude-sonnet-5", undefined]);
  });

  test("of the user may have an effort, and a written effort precedes", () => {
    expect(parsed("quick", mine).at(-1)).toBe("low");
    expect(parsed("quick:max", mine)).toEqual(["openai/gpt-5.4-mini:max", "openai", "gpt-5.4-mini", "max"]);
  });

  test("may mean other short names", () => {
    expect(parsed("q", mine)[0]).toBe("openai/gpt-5.4-mini:low");
    expect(parsed("s", { s: "sonnet:high" })[0]).toBe("anthropic/claude-sonnet-5:high");
  });

  test("in a circle are refused", () => {
    expect(() => parseName("a", { a: "b", b: "a" })).toThrow('The alias "a" points to itself.');
  });

  test("with typing errors are refused with the nearest name", () => {
    expect(() => parseName("sonet")).toThrow("Did you mean sonnet?");
    expect(() => parseName("constructor")).toThrow(ModelChoiceError);
  });

  test("never hide a full name", () => {
    expect(parsed("openai/gpt-4o", { "openai/gpt-4o": "anthropic/x" })[1]).toBe("openai");
  });
});

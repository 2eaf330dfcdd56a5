import { describe, expect, test } from "vitest";
import { knownModels, lookUp } from "./provider/catalogue.ts";

const openai = { name: "openai", catalogue: "openai" };
const anthropic = { name: "anthropic", catalogue: "anthropic" };
const mine = { name: "mine" };
const local = { name: "ollama", local: true };

describe("facts about a model", () => {
  test("the catalogue has its price and context size", async () => {
    expect(await lookUp(openai, "gpt-4o")).toEqual({
      price: { input: 2.5, output: 10, cached: 1.25 },
      contextSize: 128_000,
    });
  });

  test("the catalogue has cache prices if they are known, and a stepped price is the lowest", async () => {
    expect(await lookUp(anthropic, "claude-sonnet-4-5")).toMatchObject({
      price: { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 },
    });
  });

  test.each([
    [openai, "no-such-model"],
    [{ name: "none", catalogue: "no-such-provider" }, "gpt-4o"],
    [mine, "gpt-4o"],
  ])("a model outside the catalogue is unknown: %j %s", async (provider, model) => {
    expect(await lookUp(provider, model)).toEqual({});
  });

  test("a local model costs nothing", async () => {
    expect(await lookUp(local, "gpt-4o")).toEqual({ price: { input: 0, output: 0 } });
  });
});

describe("the user's own facts precede the catalogue's, fact by fact", () => {
  const price = { input: 1, output: 2 };

  test.each([
    ["a price alone", openai, "gpt-4o", { price }, { price, contextSize: 128_000 }],
    [
      "a context size alone",
      openai,
      "gpt-4o",
      { contextSize: 9 },
      { price: { input: 2.5, output: 10, cached: 1.25 }, contextSize: 9 },
    ],
    ["of a model that nobody knows", mine, "m", { price, contextSize: 9 }, { price, contextSize: 9 }],
    ["of a local model", local, "m", { price }, { price }],
  ])("%s", async (_, provider, model, given, expected) => {
    expect(await lookUp(provider, model, { [`${provider.name}/${model}`]: given })).toEqual(expected);
  });

  test("for one model and no other", async () => {
    expect(await lookUp(openai, "gpt-4o", { "azure/gpt-4o": { price } })).toMatchObject({ price: { input: 2.5 } });
    expect(await lookUp(openai, "toString", {})).toEqual({});
  });
});

describe("the models of a provider", () => {
  test("by name, with their known facts, without deprecated models", async () => {
    const models = await knownModels(openai);
    const names = models.map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(models.find(({ name }) => name === "openai/gpt-4o")).toMatchObject({
      price: { input: 2.5, output: 10 },
      contextSize: 128_000,
    });
  });

  test("with models that only the user knows", async () => {
    const price = { input: 1, output: 2 };
    expect(await knownModels(mine, { "mine/m": { price }, "openai/x": { price } })).toEqual([
      { name: "mine/m", price, sees: false },
    ]);
  });
});

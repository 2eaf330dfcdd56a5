import { expect, test } from "vitest";
import { lookUp } from "./catalogue.ts";

test("a known model has its price and its context size", async () => {
  expect(await lookUp("openai", "gpt-4o")).toEqual({
    price: { input: 2.5, output: 10, cached: 1.25 },
    contextSize: 128_000,
  });
});

test("prices for reading and writing the cache are told where there are any, and a price by steps is the lowest", async () => {
  expect(await lookUp("anthropic", "claude-sonnet-4-5")).toMatchObject({
    price: { input: 3, output: 15, cached: 0.3, cacheWrite: 3.75 },
  });
});

test.each([
  ["openai", "no-such-model"],
  ["no-such-provider", "gpt-4o"],
])("what is not in the catalogue is unknown: %s/%s", async (provider, model) => {
  expect(await lookUp(provider, model)).toEqual({});
});

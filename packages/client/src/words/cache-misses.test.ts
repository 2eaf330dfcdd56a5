import { Agent, Session } from "@banyan/core";
import { cacheMissCauses } from "@banyan/core/conversation";
import { scriptedModel, spend, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { cacheMissCause, cacheMissSums, cacheMissText } from "./cache-misses.ts";

test("V5: cache misses are summed by cause, and a first request is not described", async () => {
  const session = Session.inMemory();
  const answers = [
    { input: 4_000, cacheWrite: 4_000 },
    { input: 5_000, cached: 4_900 },
    { input: 6_000 },
    { input: 7_000 },
  ];
  const agent = new Agent({ model: scriptedModel(answers.map((usage) => [spend(usage), text("Yes.")])) });
  for (const { input } of answers) await agent.send(`Question of ${input} tokens?`, { session });
  const messages = [...session.state.messages.values()];
  expect(cacheMissSums(messages)).toEqual([
    { cause: "first-request", count: 1, tokens: 4_000 },
    { cause: "provider", count: 2, tokens: 5_000 + 6_000 },
  ]);
  expect(cacheMissText(messages)).toBe("cache miss: the provider kept no cache, 11,000 tokens again");
  expect(cacheMissText(messages.slice(0, 2))).toBe("");
});

test("V5: each cause has its own words", () => {
  expect(new Set(cacheMissCauses.map((cause) => cacheMissCause(cause))).size).toBe(cacheMissCauses.length);
});

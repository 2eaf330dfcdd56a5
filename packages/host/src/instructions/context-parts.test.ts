import { Agent, defineTool, pathTo, Session } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { countTokens as countOlder } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { z } from "zod";
import { contextParts } from "./context-parts.ts";
import { tokenCounter } from "./tokens.ts";

const TEXT = "The quick brown fox jumps over the lazy dog, 42 times — naïvely.";

test("B48: each part of a request is named with its tokens", async () => {
  const look = defineTool({
    name: "look",
    description: "Looks.",
    input: z.object({ where: z.string() }),
    effects: "none",
    execute: () => TEXT,
  });
  const session = Session.inMemory();
  const model = scriptedModel([[call("look", { where: "here" })], "It is a fox."]);
  await new Agent({ model, tools: [look] }).send("What is there?", { session });
  const path = pathTo(session.state, session.state.leaf);
  const instructions = [{ source: "AGENTS.md", text: TEXT }];
  const parts = await contextParts({ model: "openai/gpt-5", instructions, tools: [look], path });
  expect(parts).toEqual([
    { kind: "instructions", source: "AGENTS.md", tokens: countTokens(TEXT), isExact: true },
    { kind: "tool", source: "look", tokens: expect.any(Number), isExact: true },
    { kind: "conversation", source: "messages", tokens: countTokens("What is there?"), isExact: true },
    { kind: "conversation", source: "answers", tokens: countTokens("It is a fox."), isExact: true },
    {
      kind: "conversation",
      source: "calls and their results",
      tokens: countTokens(`look\n{"where":"here"}\n${TEXT}`),
      isExact: true,
    },
  ]);
  expect(parts[1]?.tokens).toBeGreaterThan(20);
});

test.each([
  ["openai/gpt-5.4:low", countTokens(TEXT), true],
  ["openai/gpt-4o", countTokens(TEXT), true],
  ["openai/o3", countTokens(TEXT), true],
  ["openrouter/openai/gpt-4.1", countTokens(TEXT), true],
  ["openai/gpt-4-turbo", countOlder(TEXT), true],
  ["anthropic/claude-sonnet-5", countTokens(TEXT), false],
  ["ollama/llama", countTokens(TEXT), false],
])("the tokens of %s", async (model, tokens, isExact) => {
  expect((await tokenCounter(model))(TEXT)).toEqual({ tokens, isExact });
});

test("text that resembles a special token is text", async () => {
  const count = await tokenCounter("openai/gpt-5");
  expect(count("<|endoftext|>").tokens).toBeGreaterThan(1);
  expect(count("")).toEqual({ tokens: 0, isExact: true });
});

test("a text without a break is counted too, piece by piece", async () => {
  const count = await tokenCounter("openai/gpt-5");
  for (const text of ["a".repeat(300_000), " ".repeat(300_000), "é".repeat(100_000), "😀".repeat(100_000)]) {
    const { tokens, isExact } = count(text);
    expect(tokens).toBeGreaterThan(100);
    expect(isExact).toBe(false);
  }
});

import type { MemoryItem } from "@banyan/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryIn, recalled, said } from "./memory.fixture.ts";

const answer = (text: string): MemoryItem => said(text, "earlier", { role: "assistant" });

test("B45: memory stores the user's messages and the last answer of a turn", async () => {
  const memory = await memoryIn();
  await memory.remember([
    said("Please look at the tests."),
    answer("I am looking at the tests now."),
    said("Only those of the parser, please."),
    answer("All tests of the parser pass."),
  ]);
  expect((await memory.list()).map(({ text }) => text).reverse()).toEqual([
    "Please look at the tests.",
    "Only those of the parser, please.",
    "All tests of the parser pass.",
  ]);
});

test("B45: each entry has its source", async () => {
  const memory = await memoryIn({ directory: "/home/me" });
  await memory.remember([said("I live in Utrecht.", "a", { message: "m1" })]);
  expect(await memory.list()).toEqual([
    {
      id: 1,
      kind: "said",
      text: "I live in Utrecht.",
      source: "user, 2026-11-21, /home/me, conversation a",
      at: Date.UTC(2026, 10, 21, 12),
      role: "user",
      conversation: "a",
      message: "m1",
      directory: "/home/me",
    },
  ]);
});

test.each(["", "  \n", "Yes.", "Go on!", "thank you", "👍 👍 👍 👍", "はい"])(
  "B45: memory does not store %j, which has no meaning of its own",
  async (text) => {
    const memory = await memoryIn();
    await memory.remember([said(text)]);
    expect(await memory.list()).toEqual([]);
  },
);

test("B45: memory stores facts of any length", async () => {
  const memory = await memoryIn();
  await memory.remember([said("Rex", "a", { kind: "fact" })]);
  await memory.add({ text: "🐕" });
  expect((await memory.list()).map(({ text }) => text)).toEqual(["🐕", "Rex"]);
});

test("B45: memory stores a repeated message once, with its last source", async () => {
  const memory = await memoryIn();
  for (const conversation of ["a", "b", "a"]) await memory.remember([said("Run all the tests.", conversation)]);
  await memory.remember([said(" Run all the tests.\n", "c")]);
  expect(await memory.list()).toMatchObject([{ text: "Run all the tests.", conversation: "c" }]);
  await memory.remember([said("Run all the tests.", "a")]);
  expect(await memory.list()).toMatchObject([{ conversation: "a" }]);
});

test("B45: memory stores nothing of a conversation with memory off", async () => {
  const memory = await memoryIn();
  await memory.setOn("a", false);
  expect([await memory.isOn("a"), await memory.isOn("b")]).toEqual([false, true]);
  await memory.remember([said("I live in Utrecht.", "a"), said("I live in Delft.", "b")]);
  expect((await memory.list()).map(({ text }) => text)).toEqual(["I live in Delft."]);
  await expect(memory.add({ text: "Lives in Utrecht.", conversation: "a" })).rejects.toMatchObject({ code: "off" });
  await memory.setOn("a", true);
  await memory.remember([said("I live in Utrecht.", "a")]);
  expect(await memory.list()).toHaveLength(2);
});

test("B45: memory stores a long text in pieces that end with sentences, and finds each piece", async () => {
  const memory = await memoryIn();
  const sentences = Array.from({ length: 200 }, (_, index) => `Sentence ${index} is about thing${index}.`);
  await memory.remember([said(sentences.join(" "))]);
  const pieces = (await memory.list()).map(({ text }) => text).reverse();
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) expect(piece).toMatch(/^Sentence \d+ .*\.$/);
  expect(pieces.join(" ")).toBe(sentences.join(" "));
  expect((await recalled(memory, "thing150"))[0]).toContain("thing150.");
});

test("B45: a piece ends with a paragraph, else a line, else a word, when one ends near", async () => {
  const memory = await memoryIn();
  const [a, b, c] = ["oak", "elm", "ash"].map((tree) => `${tree} trees `.repeat(90).trim());
  await memory.remember([said(`${a}\n\nA line of ${b}\n${c}`)]);
  expect((await memory.list()).map(({ text }) => text).reverse()).toEqual([a, `A line of ${b}`, c]);
  await memory.clear();
  await memory.remember([said(`${a}\n\nA line.\n${c}`)]);
  expect((await memory.list()).map(({ text }) => text).reverse()).toEqual([a, `A line.\n${c}`]);
});

test("B45: memory stores a bounded beginning and end of a very long text", async () => {
  const memory = await memoryIn();
  const between = Array.from({ length: 100_000 }, (_, index) => `word${index}`).join(" ");
  await memory.remember([said(`It begins here. ${between} It ends there.`)]);
  const entries = await memory.list();
  expect(entries.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(12_000);
  expect(await recalled(memory, "begins")).toHaveLength(1);
  expect(await recalled(memory, "ends")).toHaveLength(1);
});

test("B45: memory cuts a text without spaces between characters", async () => {
  const memory = await memoryIn();
  const text = `Some words first ${Array.from({ length: 1000 }, (_, index) => `𝒳${index}`).join("𝒴")}`;
  await memory.remember([said(text)]);
  const pieces = (await memory.list()).map((entry) => entry.text).reverse();
  expect(pieces.join("")).toBe(text);
  for (const piece of pieces) expect(piece.isWellFormed()).toBe(true);
});

test("B39, B42: memory returns the newest summaries of a directory, the newest first, whatever the clock says", async () => {
  const memory = await memoryIn({ directory: "/here" });
  for (let index = 1; index <= 7; index++) {
    await memory.remember([said(`Task ${index} is done.`, `c${index}`, { kind: "summary", at: 1000 - index })]);
  }
  await memory.remember([said("Done there.", "c8", { kind: "summary", directory: "/there" })]);
  const texts = async (limit: number) => (await memory.summaries("/here", limit)).map(({ text }) => text);
  expect(await texts(5)).toEqual([7, 6, 5, 4, 3].map((index) => `Task ${index} is done.`));
  await memory.setOn("c7", false);
  expect((await texts(5))[0]).toBe("Task 6 is done.");
  expect(await memory.summaries("/nowhere", 5)).toEqual([]);
});

test("B42: a summary is kept whole, up to 8,000 characters", async () => {
  const memory = await memoryIn({ directory: "/here" });
  await memory.remember([said("a ".repeat(3000), "a", { kind: "summary" })]);
  await memory.remember([said("b ".repeat(9000), "b", { kind: "summary" })]);
  const [long, whole] = await memory.summaries("/here", 2);
  expect(whole?.text).toBe("a ".repeat(3000).trim());
  expect(long?.text).toHaveLength(8000);
  expect(long?.text.endsWith("…")).toBe(true);
});

test("B45: memory returns any Unicode text unchanged", async () => {
  const memory = await memoryIn();
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 300 }).filter((one) => one.trim() !== "");
  await fc.assert(
    fc.asyncProperty(text, async (fact) => {
      const { id } = await memory.add({ text: fact });
      const [kept] = await memory.list({ limit: 1, after: id + 1 });
      expect(kept).toMatchObject({ id, text: fact.trim() });
    }),
    { numRuns: 200 },
  );
});

test("B45: memory replaces half a character by U+FFFD", async () => {
  const memory = await memoryIn();
  await memory.remember([said("Half an owl \ud83e flew by.")]);
  const whole = "Half an owl \ufffd flew by.";
  expect((await memory.list()).map(({ text }) => text)).toEqual([whole]);
  expect(await recalled(memory, "the \udd89 owl")).toEqual([whole]);
  expect(await memory.remove(1)).toBe(true);
  expect(await recalled(memory, "owl")).toEqual([]);
});

test("B45: a search for all words of an entry finds the entry, in any script", async () => {
  const memory = await memoryIn();
  const letters = fc.constantFrom(..."abcé日本語のタイไทยкириλόγος한국어עברית123");
  const word = fc.string({ unit: letters, minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 3, maxLength: 12 }), async (words) => {
      const { id } = await memory.add({ text: words.join(" ") });
      const found = await memory.search(words.toReversed().join(" "), { limit: 1000 });
      expect(found.map((entry) => entry.id)).toContain(id);
    }),
    { numRuns: 100 },
  );
});

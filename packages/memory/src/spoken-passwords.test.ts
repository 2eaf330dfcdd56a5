import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { embedder, memoryIn } from "./memory.fixture.ts";
import { ABOUT, SAYING } from "./spoken-passwords.fixture.ts";
import { withoutSpokenPasswords } from "./spoken-passwords.ts";
import { UNSEEN_ABOUT, UNSEEN_SAYING } from "./unseen-passwords.fixture.ts";

/** The texts that a memory stores for these sentences, and the requests to its embedding model. */
async function kept(sentences: readonly string[]) {
  const model = embedder([]);
  const memory = await memoryIn({ embed: model });
  for (const sentence of sentences) await memory.add({ text: sentence });
  for (const sentence of sentences) await memory.recall(sentence, { limit: 1, signal: new AbortController().signal });
  const listed = (await memory.list({ limit: 1000 })).map(({ text }) => text).reverse();
  return { listed, sent: model.calls.flat() };
}

const { French = [], Italian = [] } = UNSEEN_SAYING;

test.each(Object.entries({ ...SAYING, French, Italian }))(
  "S45: no sentence of %s that says a password is kept with it",
  async (_, sentences) => {
    const secrets = sentences.map((sentence) => /\[(.*)\]/.exec(sentence)?.[1] ?? sentence);
    const { listed, sent } = await kept(sentences.map((sentence) => sentence.replace(/\[(.*)\]/, "$1")));
    expect(listed).toEqual(sentences.map((sentence) => sentence.replace(/\[.*\]/, "[password]")));
    for (const secret of secrets) expect(sent.filter((text) => text.includes(secret))).toEqual([]);
  },
);

test.each(Object.entries(ABOUT))(
  "S45: memory keeps sentences in %s about passwords that contain no password",
  async (_, sentences) => {
    expect((await kept(sentences)).listed).toEqual(sentences);
  },
);

test.each(Object.entries(UNSEEN_SAYING))("S45: passwords disappear from unseen sentences in %s", (_, sentences) => {
  expect(sentences.length).toBeGreaterThan(10);
  const told = sentences.map((sentence) => sentence.replace(/\[(.*)\]/, "$1"));
  const kept = sentences.map((sentence) => sentence.replace(/\[.*\]/, "[password]"));
  expect(told.map(withoutSpokenPasswords)).toEqual(kept);
});

test("S45: 130 unseen sentences without a password stay unchanged", () => {
  expect(UNSEEN_ABOUT).toHaveLength(130);
  expect(UNSEEN_ABOUT.map(withoutSpokenPasswords)).toEqual(UNSEEN_ABOUT);
});

test("S45: 60 sentences contain a password, and 200 contain none", () => {
  const count = (table: typeof SAYING) => new Set(Object.values(table).flat()).size;
  expect([count(SAYING), count(ABOUT)]).toEqual([60, 200]);
});

test("S45: memory stores each example of docs/memory.md as the page says", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/memory.md"), "utf8");
  const table = /\| you write \| memory stores \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? "";
  const rows = table
    .trim()
    .split("\n")
    .map((row) => row.slice(2, -2).split(" | "));
  expect(rows.length).toBeGreaterThan(4);
  const { listed } = await kept(rows.map(([told = ""]) => told));
  expect(listed).toEqual(rows.map(([, stays]) => stays));
});

test("S45: very long texts and many mentions of a password take little time", () => {
  const began = performance.now();
  for (const text of [
    "my password is ".repeat(20_000),
    `password ${"a".repeat(200_000)}`,
    `${"x-".repeat(100_000)} is my password`,
    "password for ".repeat(20_000),
    "passwort".repeat(20_000),
    "mot de passe c'est ".repeat(10_000),
    "cambiata la password in ".repeat(10_000),
    `password is: ${"word ".repeat(20_000)}`,
  ])
    withoutSpokenPasswords(text);
  expect(performance.now() - began).toBeLessThan(60_000);
});

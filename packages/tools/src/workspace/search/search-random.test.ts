import { setFlagsFromString } from "node:v8";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openWorkspace } from "../files/paths.ts";
import { call, type TestFolder } from "../test-folder.fixture.ts";
import { searchTool } from "./search.ts";
import { excerptAround } from "./search-excerpt.ts";
import { searchTexts } from "./search-files.ts";
import {
  type JudgedFile,
  type JudgedPattern,
  judgedLines,
  notIgnored,
  patterns,
  plant,
  texts,
  trees,
} from "./search-judge.fixture.ts";
import { translate } from "./search-pattern.ts";
import { findRipgrep } from "./search-ripgrep.ts";

const hasRipgrep = findRipgrep(openWorkspace("."), process.env) !== undefined;

const SEED = Number(process.env.BANYAN_SEED ?? 79);
const REFUSAL = /^The pattern is not a valid regular expression: .+\. .+\.$/s;

/** Few in quick mode, because each search starts a thread. */
const [TREES, PATTERNS] = process.env.BANYAN_LONG ? [100, 20] : [8, 5];

test(`F79: ${TREES * PATTERNS} random patterns find the same as JavaScript, with and without ripgrep${hasRipgrep ? "" : " (no rg here)"}`, async () => {
  const drawn = fc.sample(fc.tuple(trees, fc.array(patterns, { minLength: PATTERNS, maxLength: PATTERNS })), {
    numRuns: TREES,
    seed: SEED,
  });
  let stopped = 0;
  for (const [files, wanted] of drawn) {
    using folder = plant(files);
    const open = notIgnored(folder);
    const judged = wanted.map(async (pattern) => {
      const answer = await answerOf(folder, pattern.pattern, false);
      const withRipgrep = hasRipgrep ? await answerOf(folder, pattern.pattern, true) : answer;
      if (`${answer}${withRipgrep}`.includes("[stopped after ")) {
        stopped += 1;
        return;
      }
      expect(withRipgrep, pattern.pattern).toBe(answer);
      if (!answer.startsWith("refused: "))
        expect(wrongIn(answer, pattern, files, open), `${pattern.pattern}\n${answer}`).toEqual([]);
    });
    // The folder must stay until each search has ended.
    const failed = (await Promise.allSettled(judged)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }
  // A pattern with several repetitions takes long on long lines, and the result says so.
  expect(stopped).toBeLessThanOrEqual(1 + (TREES * PATTERNS) / 100);
});

const COUNT = process.env.BANYAN_LONG ? 10_000 : 500;

test.each([
  ["optimized", "--regexp-optimization", SEED],
  // V8 stops optimizing after the first MiB of compiled expressions, so long-lived programs get plain code.
  ["plain", "--no-regexp-optimization", SEED + 1],
])(
  "F79: random patterns in %s code find the same as JavaScript in texts, and at most one of 20 is refused",
  (_code, flag, seed) => {
    setFlagsFromString(flag);
    using _restored = { [Symbol.dispose]: () => setFlagsFromString("--regexp-optimization") };
    const drawn = fc.sample(fc.tuple(patterns, texts), { numRuns: COUNT, seed });
    let refused = 0;
    for (const [judged, text] of drawn) {
      const found: number[] = [];
      try {
        searchTexts(
          { pattern: judged.pattern, texts: [{ address: "a", text: text.replaceAll("\n", "\r\n") }] },
          { found: ({ line }) => found.push(line) > 0, skipped() {} },
        );
      } catch (error) {
        expect((error as Error).message).toMatch(REFUSAL);
        refused += 1;
        continue;
      }
      if (judged.meaning !== undefined) expect(found, judged.pattern).toEqual(judgedLines(judged, text));
      if (found.length > 0) expect(hasNeeded(judged.pattern, text), judged.pattern).toBe(true);
    }
    expect(refused / drawn.length).toBeLessThanOrEqual(0.05);
  },
);

/** Returns whether a text contains a text without which ripgrep excludes the file. */
function hasNeeded(pattern: string, text: string): boolean {
  const { needs, ignoresCase } = translate(pattern);
  const cased = (some: string) => (ignoresCase ? some.toLowerCase() : some);
  return needs.length === 0 || needs.some((needed) => cased(text).includes(cased(needed)));
}

async function answerOf(folder: TestFolder, pattern: string, ripgrep: boolean): Promise<string> {
  try {
    return await call(searchTool(openWorkspace(folder.root), { ripgrep, deadline: 60_000 }), { pattern });
  } catch (error) {
    const { message } = error as Error;
    expect(message).toMatch(REFUSAL);
    return `refused: ${message}`;
  }
}

/** Returns the wrong and the missing lines of a result. */
function wrongIn(answer: string, pattern: JudgedPattern, files: readonly JudgedFile[], open: ReadonlySet<string>) {
  const told = new Set([...answer.matchAll(/^(\S*\.\w+:\d+):/gm)].map(([, place]) => place));
  const wrong: string[] = [];
  for (const { path, text, form } of files) {
    const lines = judgedLines(pattern, text) ?? [];
    const places = lines.map((line) => `${path}:${line}`);
    const isSearched = open.has(path) && form !== "binary";
    if (isSearched && pattern.meaning !== undefined) {
      for (const place of places) if (!told.delete(place)) wrong.push(`${place} matches and is not told`);
    } else if (!isSearched && places.length > 0 && answer.startsWith("[no matches]")) {
      const reason = open.has(path) ? "(binary)" : "(left out by .gitignore";
      if (!answer.includes(reason)) wrong.push(`${path} matches, and its being left out is not told`);
    }
  }
  if (pattern.meaning !== undefined) wrong.push(...[...told].map((place) => `${place} is told and does not match`));
  return wrong;
}

const words = fc.array(
  fc.constantFrom("a", "lorem", "ipsum ", " dolor", "=", "ä日", "👩‍👩‍👧", "x".repeat(100), "y".repeat(700)),
  {
    minLength: 1,
    maxLength: 200,
  },
);

test("F82: the shown part of a line contains the beginning of the match, and no half of a word of at most 512 units", () => {
  fc.assert(
    fc.property(words, fc.constantFrom("needle", "sk-needle-in-a-key", "n"), words, (before, match, behind) => {
      const line = before.join("") + match + behind.join("");
      const at = before.join("").length;
      const shown = excerptAround(line, at);
      const text = shown.replace(/^\[\.\.\.\] /, "").replace(/ \[\.\.\.\]$/, "");
      expect(text).toContain(match);
      expect(text.isWellFormed()).toBe(true);
      expect(line).toContain(text);
      expect(text.length).toBeLessThan(300 + 2 * 512);
      const from = line.lastIndexOf(text, at);
      for (const { 0: word, index } of line.matchAll(/[\w.\-+/=~:@%]+/g)) {
        const [isBegun, isEnded] = [
          index >= from && index < from + text.length,
          index + word.length > from && index + word.length <= from + text.length,
        ];
        if (word.length <= 512) expect(isBegun, word).toBe(isEnded);
      }
    }),
    { numRuns: process.env.BANYAN_LONG ? 20_000 : 300, seed: 82 },
  );
});

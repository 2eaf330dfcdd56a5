import fc from "fast-check";
import { expect, test } from "vitest";
import { lexemesOf, lexemesOfWord } from "./lexemes.ts";
import { holdsWords, queryWords } from "./words.ts";

const TRIES = process.env.BANYAN_LONG ? 20_000 : 500;

/** Letters of several scripts, combining marks, scripts without spaces, digits, and separators. */
const text = fc
  .array(
    fc.constantFrom(
      "a",
      "B",
      "é",
      "e\u0301",
      "İ",
      "ß",
      "木",
      "树",
      "に",
      "ן",
      "न",
      "\u0301",
      "7",
      "👩",
      " ",
      "-",
      "_",
      "\ud800",
    ),
    { maxLength: 12 },
  )
  .map((letters) => letters.join(""));

test("B55 whatever is found in a text, an index of its lexemes would have found", () => {
  fc.assert(
    fc.property(text, text, fc.boolean(), (said, query, fromText) => {
      const words = queryWords(fromText ? said.slice(0, 5) : query);
      if (words.length === 0 || !holdsWords(words)(said)) return;
      const known = Array.from(lexemesOf(said));
      for (const [index, word] of words.entries())
        for (const { text, continues } of lexemesOfWord(word, index === words.length - 1))
          expect(known.some((one) => (continues ? one.startsWith(text) : one === text))).toBe(true);
    }),
    { numRuns: TRIES },
  );
});

test("B55 a word of megabytes is indexed by its beginning", () => {
  const [lexeme = ""] = lexemesOf("a".repeat(5_000_000));
  expect(lexeme).toBe("a".repeat(64));
  expect(lexemesOfWord("a".repeat(70), false)).toEqual([{ text: "a".repeat(64), continues: true }]);
});

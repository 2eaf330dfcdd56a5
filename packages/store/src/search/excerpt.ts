import type { SearchHit } from "@banyan/core/stores";
import { fold, searchPattern } from "./words.ts";

/** Characters of an excerpt, and of its part before the first match. */
const LENGTH = 160;
const BEFORE = 40;

/** Returns the shortened line of the first match, and the positions of its matches. The last word may be a prefix. */
export function excerptOf(text: string, words: readonly string[]): Pick<SearchHit, "excerpt" | "matches"> {
  const pattern = new RegExp(
    words.map((word, index) => searchPattern(word, index === words.length - 1)).join("|"),
    "gv",
  );
  const first = Math.max(0, fold(text).search(pattern));
  const from = first <= BEFORE ? 0 : afterGap(text, first - BEFORE, first);
  const to = from + LENGTH >= text.length ? text.length : lastGap(text, from + LENGTH - BEFORE, from + LENGTH);
  const line = text
    .slice(from, to)
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "")
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const excerpt = `${from > 0 ? "…" : ""}${line}${to < text.length ? "…" : ""}`;
  const matches = Array.from(fold(excerpt).matchAll(pattern), ({ 0: { length }, index }) => [index, index + length]);
  return { excerpt, matches: matches as [number, number][] };
}

function afterGap(text: string, from: number, to: number): number {
  return from + 1 + text.slice(from, to).search(/\s/u);
}

function lastGap(text: string, from: number, to: number): number {
  const gap = text.slice(from, to).search(/\s\S*$/u);
  return gap < 0 ? to : from + gap;
}

import { cutTo } from "@banyan/core/shown";
import { showOnOneLine } from "../files/plain-text.ts";

const MOST_CHARACTERS = 1_000_000;
const MOST_SHOWN = 200;
/** Lines with a smaller share of common letter pairs are unrelated. */
const SIMILAR = 0.6;

/** Returns a sentence that quotes the line most similar to the first line of `wanted`; undefined if none is similar. */
export function nearestLine(text: string, wanted: string): string | undefined {
  const first = wanted
    .split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");
  if (first === undefined || text.length > MOST_CHARACTERS) return undefined;
  const pairs = letterPairs(first);
  let best = { score: SIMILAR, number: 0, line: "" };
  for (const [index, line] of text.split("\n").entries()) {
    const plain = line.trim();
    if (plain === first)
      return `Line ${index + 1} is the same as the first line of old_text, so the difference is in white space or further down.`;
    if (plain.length > 2 * first.length + 10 || 2 * plain.length + 10 < first.length) continue;
    const score = similarity(pairs, letterPairs(plain));
    if (score > best.score) best = { score, number: index + 1, line: plain };
  }
  return best.number === 0
    ? undefined
    : `The most similar line is line ${best.number}: ${showOnOneLine(cutTo(best.line, MOST_SHOWN, ""))}`;
}

function letterPairs(line: string): ReadonlyMap<string, number> {
  const pairs = new Map<string, number>();
  for (let at = 0; at + 2 <= line.length; at += 1) {
    const pair = line.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Dice's coefficient: 1 for equal pairs, 0 for none in common. */
function similarity(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let common = 0;
  let all = 0;
  for (const [pair, count] of one) {
    common += Math.min(count, other.get(pair) ?? 0);
    all += count;
  }
  for (const count of other.values()) all += count;
  return all === 0 ? 0 : (2 * common) / all;
}

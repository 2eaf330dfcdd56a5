import { cutAfter, cutBefore } from "@banyan/core/shown";

/** UTF-16 units of a line that are shown, and how many of them before a match. */
const LONGEST = 300;
const BEFORE = 100;

/** A word of up to this many units is shown whole or not at all: whoever takes secrets out of a text knows none by its half (S10). */
const LONGEST_WORD = 512;

/** The sides on which a line was cut. */
const CUT = "[...]";

/** Returns the shown part of a line: all of it, or the place around the match that begins `at` a UTF-16 unit of the line. */
export function excerpt(line: string, at: number): string {
  if (line.length <= LONGEST) return line;
  const from = at + BEFORE < LONGEST ? 0 : at - BEFORE;
  const to = Math.min(line.length, from + LONGEST);
  // Only the surroundings are looked at, because a line can be megabytes long.
  const base = Math.max(0, from - LONGEST_WORD);
  const near = line.slice(base, to + LONGEST_WORD);
  const start = from === 0 ? 0 : startOutsideOfWord(near, cutAfter(near, from - base), at - base);
  const end = to === line.length ? near.length : endOutsideOfWord(near, cutBefore(near, to - base), at - base);
  const [before, behind] = [start > 0 || base > 0, base + end < line.length];
  return `${before ? `${CUT} ` : ""}${near.slice(start, end)}${behind ? ` ${CUT}` : ""}`;
}

/** The place itself, or the end of the word that it lies in; the word's beginning if the match would be cut. */
function startOutsideOfWord(text: string, place: number, match: number): number {
  const before = /[\w.\-+/=~:@%]*$/.exec(text.slice(0, place))?.[0].length ?? 0;
  const behind = before === 0 ? 0 : (/^[\w.\-+/=~:@%]*/.exec(text.slice(place))?.[0].length ?? 0);
  if (behind === 0 || before + behind > LONGEST_WORD) return place;
  return place + behind <= match ? place + behind : place - before;
}

function endOutsideOfWord(text: string, place: number, match: number): number {
  const behind = /^[\w.\-+/=~:@%]*/.exec(text.slice(place))?.[0].length ?? 0;
  const before = behind === 0 ? 0 : (/[\w.\-+/=~:@%]*$/.exec(text.slice(0, place))?.[0].length ?? 0);
  if (before === 0 || before + behind > LONGEST_WORD) return place;
  return place - before > match ? place - before : place + behind;
}

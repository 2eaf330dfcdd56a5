import { cutAfter, cutBefore } from "@banyan/core/shown";

/** UTF-16 units to show of a line, and of the text before a match. */
const LONGEST = 300;
const BEFORE = 100;

/** A shorter word is shown as a whole or not at all: a later redaction does not recognize half a secret (S10). */
const LONGEST_WORD = 512;

const CUT = "[...]";

/** Returns the shown part of a line: the whole line, or the surroundings of the match at `at` (in UTF-16 units). */
export function excerptAround(line: string, at: number): string {
  if (line.length <= LONGEST) return line;
  const from = at + BEFORE < LONGEST ? 0 : at - BEFORE;
  const to = Math.min(line.length, from + LONGEST);
  // Look only at the surroundings, because a line can be megabytes long.
  const base = Math.max(0, from - LONGEST_WORD);
  const near = line.slice(base, to + LONGEST_WORD);
  const start = from === 0 ? 0 : startOutsideOfWord(near, cutAfter(near, from - base), at - base);
  const end = to === line.length ? near.length : endOutsideOfWord(near, cutBefore(near, to - base), at - base);
  const [before, behind] = [start > 0 || base > 0, base + end < line.length];
  return `${before ? `${CUT} ` : ""}${near.slice(start, end)}${behind ? ` ${CUT}` : ""}`;
}

/** Returns the place, or the end of the word around it; the start of the word if the match would be cut. */
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

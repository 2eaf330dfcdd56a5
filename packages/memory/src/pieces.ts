import type { MemoryItem } from "@banyan/core";
import { cutBefore, cutTo, cutToEnd } from "@banyan/core/shown";
import { wordCount } from "./words.ts";

/** Characters of a piece of what was said. */
const PIECE = 1500;
/** Of a longer text than two of these, so many characters at its beginning and as many at its end are kept. */
const END = 6000;
/** A text of fewer words ("Yes, please.") tells nothing without what it answers. */
const LEAST_WORDS = 3;
/** Characters of a summary. */
const SUMMARY = 8000;

/** Characters of a fact. */
export const LONGEST_FACT = 2000;

/** A text that is to be kept, with where it is from. */
export interface Piece extends Omit<MemoryItem, "kind"> {
  readonly kind: NonNullable<MemoryItem["kind"]>;
}

/**
 * What of a turn is worth keeping: what the user said, and the last answer; what the model says between its calls is not.
 * Secrets are taken out before anything is cut, so that none is parted.
 */
export function piecesOf(items: readonly MemoryItem[], redact: (text: string) => string): Piece[] {
  const last = items.findLast(({ role }) => role === "assistant");
  return items.flatMap((item) => {
    const kind = item.kind ?? "said";
    if (kind === "said" && item.role === "assistant" && item !== last) return [];
    const text = redact(item.text).trim();
    return textsOf(kind, text).map((piece) => ({ ...item, kind, text: piece }));
  });
}

function textsOf(kind: Piece["kind"], text: string): string[] {
  if (text === "") return [];
  switch (kind) {
    case "fact":
      return [cut(text, LONGEST_FACT)];
    case "summary":
      return [cut(text, SUMMARY)];
    case "said":
      return wordCount(text) < LEAST_WORDS ? [] : cutUp(text);
  }
}

/** A text in pieces that end where a paragraph, a line, a sentence or a word does, when that is not far. */
function cutUp(text: string): string[] {
  const pieces: string[] = [];
  const ends = text.length <= 2 * END ? [text] : [cutTo(text, END, ""), cutToEnd(text, END)];
  for (const end of ends) {
    for (let from = 0; from < end.length; ) {
      const to = breakIn(end, from);
      const piece = end.slice(from, to).trim();
      if (piece !== "") pieces.push(piece);
      from = to;
    }
  }
  return pieces;
}

/** Where the piece that begins at `from` ends: in its second half, if it can end well there. */
function breakIn(text: string, from: number): number {
  const window = text.slice(from, from + PIECE);
  if (from + window.length === text.length) return text.length;
  for (const boundary of [/\n\s*\n/g, /\n/g, /[.!?]\s|[。！？]/g, /\s/g]) {
    const last = Array.from(window.matchAll(boundary)).at(-1);
    if (last && last.index >= PIECE / 2) return from + last.index + last[0].length;
  }
  return Math.max(from + 1, cutBefore(text, from + window.length));
}

/** The beginning of a text that is too long, marked as such. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : cutTo(text, most - 1);
}

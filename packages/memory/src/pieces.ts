import type { MemoryItem } from "@banyan/core";
import { cutBefore, cutTo, cutToEnd } from "@banyan/core/shown";
import { wordCount } from "./words.ts";

/** Maximum characters of a piece of a message. */
const PIECE = 1500;
/** Characters to keep at the start and at the end of a long text. */
const END = 6000;
/** A shorter text ("Yes, please.") means nothing without its question. */
const LEAST_WORDS = 3;
/** Maximum characters of a summary. */
const SUMMARY = 8000;

/** Maximum characters of a fact in the memory. */
export const LONGEST_FACT = 2000;

/** A text to store in the memory, with its source. */
export interface MemoryPiece extends Omit<MemoryItem, "kind"> {
  readonly kind: NonNullable<MemoryItem["kind"]>;
}

/** Selects the texts of a turn that are worth remembering. Removes secrets first, so that no cut splits a secret. */
export function memoryPieces(items: readonly MemoryItem[], redact: (text: string) => string): MemoryPiece[] {
  const last = items.findLast(({ role }) => role === "assistant");
  return items.flatMap((item) => {
    const kind = item.kind ?? "said";
    if (kind === "said" && item.role === "assistant" && item !== last) return [];
    const text = redact(item.text).trim();
    return splitMemoryText(kind, text).map((piece) => ({ ...item, kind, text: piece }));
  });
}

function splitMemoryText(kind: MemoryPiece["kind"], text: string): string[] {
  if (text === "") return [];
  switch (kind) {
    case "fact":
      return [cutMemoryText(text, LONGEST_FACT)];
    case "summary":
      return [cutMemoryText(text, SUMMARY)];
    case "said":
      return wordCount(text) < LEAST_WORDS ? [] : cutUp(text);
  }
}

/** Pieces end at a paragraph, line, sentence or word, if one is near. */
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

function breakIn(text: string, from: number): number {
  const window = text.slice(from, from + PIECE);
  if (from + window.length === text.length) return text.length;
  for (const boundary of [/\n\s*\n/g, /\n/g, /[.!?]\s|[。！？]/g, /\s/g]) {
    const last = Array.from(window.matchAll(boundary)).at(-1);
    if (last && last.index >= PIECE / 2) return from + last.index + last[0].length;
  }
  return Math.max(from + 1, cutBefore(text, from + window.length));
}

/** Shortens a text to `most` characters. A shortened text ends with an ellipsis. */
export function cutMemoryText(text: string, most: number): string {
  return text.length <= most ? text : cutTo(text, most - 1);
}

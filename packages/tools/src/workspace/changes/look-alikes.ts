import { diffArrays } from "diff";
import { ASCII, FoldedText } from "../files/folded-text.ts";
import { MOST_CHANGES } from "./line-diff.ts";
import { type Difference, findOccurrences } from "./unseen-difference.ts";

const MOST_FOLDED = 2_000_000;

/** A part of a text, as a half-open range of UTF-16 units. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Returns at most `most` places of a text that equal `wanted` except for look-alike characters, overlaps included. */
export function lookAlikesOf(text: string, wanted: string, most: number): readonly TextRange[] {
  // Folding a long text as a whole would block the main thread.
  if (text.length > MOST_FOLDED || (ASCII.test(text) && ASCII.test(wanted))) return [];
  const folded = new FoldedText(text);
  const sought = new FoldedText(wanted, { startsInLine: true }).text;
  const [indentation = ""] = /^[^\S\r\n]*/.exec(wanted) ?? [];
  return findOccurrences(folded.text, sought, most).flatMap((place) => {
    const [from, to] = [folded.originalPlace(place), folded.originalPlace(place + sought.length)];
    if (from === undefined || to === undefined) return [];
    const lineStart = text.lastIndexOf("\n", from - 1) + 1;
    const isIndented = /^\s*$/.test(text.slice(lineStart, from));
    return isIndented && !text.startsWith(indentation, from) ? [] : [{ from, to }];
  });
}

/** A piece of a file and the text that was searched for. Both differ only in look-alike characters. */
export class LookAlikes {
  readonly #place: string;
  readonly #wanted: string;
  readonly #theirs: FoldedText;
  readonly #yours: FoldedText;

  constructor(place: string, wanted: string) {
    this.#place = place;
    this.#wanted = wanted;
    this.#theirs = new FoldedText(place, { startsInLine: true });
    this.#yours = new FoldedText(wanted, { startsInLine: true });
  }

  /** Returns the places with different characters, in UTF-16 units from the start of the piece. */
  differences(): readonly Difference[] {
    const found: Difference[] = [];
    let [at, offset] = [0, 0];
    for (let folded = 1; folded <= this.#yours.text.length; folded += 1) {
      const [next, nextOffset] = [this.#theirs.originalPlace(folded), this.#yours.originalPlace(folded)];
      if (next === undefined || nextOffset === undefined) continue;
      const [theirs, yours] = [this.#place.slice(at, next), this.#wanted.slice(offset, nextOffset)];
      if (theirs !== yours) found.push({ at, theirs, yours });
      [at, offset] = [next, nextOffset];
    }
    return found;
  }

  /**
   * Returns the piece after the replacement. Unchanged lines keep the file's characters, as do the unchanged ends of
   * changed lines. Inside a change, the two texts' characters cannot be matched.
   */
  replaced(replacement: string): string {
    const changes = diffArrays(linesWithEnds(this.#wanted), linesWithEnds(replacement), {
      maxEditLength: MOST_CHANGES,
    });
    const kept: string[] = [];
    let offset = 0;
    for (const [index, { value, added, removed }] of (changes ?? []).entries()) {
      const text = value.join("");
      const next = changes?.[index + 1];
      if (removed) kept.push(this.#changed(offset, text, next?.added ? next.value.join("") : ""));
      else if (!added) kept.push(this.#pieceOf(offset, offset + text.length) ?? text);
      else if (!changes?.[index - 1]?.removed) kept.push(text);
      if (!added) offset += text.length;
    }
    return changes ? kept.join("") : replacement;
  }

  /** Returns the new text of the file for a part of the wanted text that becomes `now`. */
  #changed(offset: number, was: string, now: string): string {
    const [old, fresh] = [charactersOf(was), charactersOf(now)];
    const most = Math.min(old.length, fresh.length);
    let head = 0;
    while (head < most && old[head] === fresh[head]) head += 1;
    let tail = 0;
    while (tail < most - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
    const begin = old.slice(0, head).join("");
    const end = old.slice(old.length - tail).join("");
    const last = offset + was.length;
    return [
      this.#pieceOf(offset, offset + begin.length) ?? begin,
      ...fresh.slice(head, fresh.length - tail),
      this.#pieceOf(last - end.length, last) ?? end,
    ].join("");
  }

  /** Returns the file's text for a part of the wanted text; undefined if the part splits a character. */
  #pieceOf(start: number, end: number): string | undefined {
    const [from, to] = [start, end].map((offset) => {
      const folded = this.#yours.foldedPlace(offset);
      return folded === undefined ? undefined : this.#theirs.originalPlace(folded);
    });
    return from === undefined || to === undefined ? undefined : this.#place.slice(from, to);
  }
}

function linesWithEnds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** Splits a text into characters, each with the marks that normalization may join. */
function charactersOf(text: string): string[] {
  return text.match(/.[\p{M}\u1160-\u11ff]*/gsu) ?? [];
}

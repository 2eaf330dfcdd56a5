/** Look-alike characters that models and keyboards produce (F81), with the character that replaces them. */
const LOOK_ALIKES: readonly (readonly [standsFor: string, others: string])[] = [
  [" ", "\u00a0\u2007\u202f"],
  ["'", "\u2018\u2019\u201a\u201b"],
  ['"', "\u201c\u201d\u201e\u201f"],
  ["-", "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"],
];

const STANDS_FOR: ReadonlyMap<string, string> = new Map(
  LOOK_ALIKES.flatMap(([standsFor, others]) => [...others].map((other) => [other, standsFor] as const)),
);

/** Matches blanks at the start of a line, or a unit of normalization: a character with its marks and vowels. */
const UNIT = /^[^\S\r\n]+|[\0-\x7f][\p{M}\u1160-\u11ff]+|[^\0-\x7f][\p{M}\u1160-\u11ff]*/gmu;

/** A pattern for ASCII texts, which contain no look-alike characters. */
export const ASCII = /^[\0-\x7f]*$/;

interface FoldedPart {
  readonly from: number;
  readonly to: number;
  readonly foldedFrom: number;
  readonly foldedTo: number;
}

/** A text with look-alike characters replaced and characters composed (NFC). Maps positions to the original text. */
export class FoldedText {
  readonly text: string;
  readonly #parts: readonly FoldedPart[];

  /** Indentation is not folded. `startsInLine`: the text begins inside a line, without indentation. */
  constructor(original: string, { startsInLine = false }: { readonly startsInLine?: boolean } = {}) {
    const parts: FoldedPart[] = [];
    const pieces: string[] = [];
    let [copied, length] = [0, 0];
    for (const { 0: unit, index } of ASCII.test(original) ? [] : original.matchAll(UNIT)) {
      const isIndentation = isBlankAtLineStart(original, index) && !(startsInLine && index === 0);
      const folded = isIndentation ? unit : foldedUnit(unit);
      if (folded === unit) continue;
      pieces.push(original.slice(copied, index), folded);
      const foldedFrom = length + index - copied;
      length = foldedFrom + folded.length;
      copied = index + unit.length;
      parts.push({ from: index, to: copied, foldedFrom, foldedTo: length });
    }
    this.text = pieces.join("") + original.slice(copied);
    this.#parts = parts;
  }

  /** Maps a place in `text` to the original; undefined inside a character. */
  originalPlace(place: number): number | undefined {
    const part = this.#lastBefore((other) => other.foldedFrom < place);
    if (part === undefined) return place;
    return place < part.foldedTo ? undefined : place - part.foldedTo + part.to;
  }

  /** Maps a place in the original to `text`; undefined inside a character. */
  foldedPlace(place: number): number | undefined {
    const part = this.#lastBefore((other) => other.from < place);
    if (part === undefined) return place;
    return place < part.to ? undefined : place - part.to + part.foldedTo;
  }

  #lastBefore(isBefore: (part: FoldedPart) => boolean): FoldedPart | undefined {
    let [low, high] = [0, this.#parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const part = this.#parts[middle];
      if (part !== undefined && isBefore(part)) low = middle + 1;
      else high = middle;
    }
    return this.#parts[low - 1];
  }
}

function foldedUnit(unit: string): string {
  return Array.from(unit, (character) => STANDS_FOR.get(character) ?? character)
    .join("")
    .normalize("NFC");
}

function isBlankAtLineStart(text: string, place: number): boolean {
  return /\s/.test(text[place] ?? "") && (place === 0 || /[\n\r\u2028\u2029]/.test(text[place - 1] ?? ""));
}

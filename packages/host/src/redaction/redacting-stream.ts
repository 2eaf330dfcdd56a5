import type { Span } from "./span.ts";

/** How secrets are found in a text, and taken out. */
export interface SecretFinder {
  /** In order, none over another. */
  find(text: string): readonly Span[];
  /** Where something begins, at the end of a text, that blanks do not end and that may be a secret when more comes. */
  open(text: string): number | undefined;
  replace(text: string, spans: readonly Span[]): string;
}

/** Characters of a word without an end that are held back; what is longer is no secret that is known. */
const LONGEST = 16_384;
/** More than the longest form of a secret. */
const KEPT_BACK = 8_192;
/** Characters before a value in which the name stands that makes it a secret. */
const CONTEXT = 256;

/**
 * Redacts a text that comes in pieces, which may break anywhere. A word that may go on is held back until its end, so
 * that all pieces together are what the whole text would have become.
 */
export class RedactingStream {
  readonly #finder: SecretFinder;
  /** The end of what was given out, as it was before. */
  #context = "";
  #held = "";

  constructor(finder: SecretFinder) {
    this.#finder = finder;
  }

  /** Takes a piece; returns what can be given out now. */
  push(text: string): string {
    this.#held += text;
    return /\s/.test(text) || this.#held.length > LONGEST ? this.#give(this.#safeEnd()) : "";
  }

  /** The rest. */
  end(): string {
    return this.#give(this.#held.length);
  }

  /** How much of what is held cannot be the beginning of a secret. */
  #safeEnd(): number {
    const held = this.#held;
    const word = lastWord(held);
    const end = held.length - word >= LONGEST ? held.length - KEPT_BACK : word;
    const open = this.#finder.open(this.#context + held.slice(0, end));
    return open === undefined ? end : Math.max(0, Math.min(end, open - this.#context.length));
  }

  #give(end: number): string {
    if (end === 0) return "";
    const before = this.#context.length;
    const text = this.#context + this.#held;
    const spans = this.#finder.find(text);
    // A secret is given out as a whole or not at all.
    const crossing = spans.find(({ start, end: last }) => start < before + end && last > before + end);
    const cut = crossing ? Math.max(before, crossing.start) : before + end;
    const inside = spans
      .filter(({ start, end: last }) => last > before && start < cut)
      .map((span) => ({ ...span, start: Math.max(span.start, before) - before, end: span.end - before }));
    const given = this.#finder.replace(text.slice(before, cut), inside);
    this.#context = text.slice(Math.max(0, cut - CONTEXT), cut);
    this.#held = text.slice(cut);
    return given;
  }
}

/** Where the word begins that a text ends with. An expression would take a time that grows with the square of a long word. */
function lastWord(text: string): number {
  const first = Math.max(0, text.length - LONGEST);
  let start = text.length;
  while (start > first && /\S/.test(text.charAt(start - 1))) start -= 1;
  return start;
}

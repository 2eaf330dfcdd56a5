import type { SecretSpan } from "./span.ts";

/** Finds secrets in a text. */
export interface SecretFinder {
  /** In order, without overlaps. */
  find(text: string): readonly SecretSpan[];
  /** The start of a possible secret at the end of an incomplete text. */
  open(text: string): number | undefined;
  replace(text: string, spans: readonly SecretSpan[]): string;
}

/** Maximum characters held back for a word without an end. No known secret is longer. */
const LONGEST = 16_384;
/** More than the longest form of a secret. */
const KEPT_BACK = 8_192;
/** Characters before a value that may contain the name that marks it as a secret. */
const CONTEXT = 256;

/** Removes secrets from a text that arrives in pieces. Holds back incomplete words. */
export class RedactingStream {
  readonly #finder: SecretFinder;
  /** The last output, before redaction. */
  #context = "";
  #held = "";

  constructor(finder: SecretFinder) {
    this.#finder = finder;
  }

  /** Returns the text that is safe to output now. */
  push(text: string): string {
    this.#held += text;
    return /\s/.test(text) || this.#held.length > LONGEST ? this.#give(this.#safeEnd()) : "";
  }

  end(): string {
    return this.#give(this.#held.length);
  }

  /** The end of the held text that cannot be part of a later secret. */
  #safeEnd(): number {
    const held = this.#held;
    const word = lastWordStart(held);
    const end = held.length - word >= LONGEST ? held.length - KEPT_BACK : word;
    const open = this.#finder.open(this.#context + held.slice(0, end));
    return open === undefined ? end : Math.max(0, Math.min(end, open - this.#context.length));
  }

  #give(end: number): string {
    if (end === 0) return "";
    const before = this.#context.length;
    const text = this.#context + this.#held;
    const spans = this.#finder.find(text);
    // Output a secret as a whole or not at all.
    const crossing = spans.find(({ start, end: last }) => start < before + end && last > before + end);
    const cut = crossing ? Math.max(before, crossing.start) : before + end;
    const inside = spans
      .filter(({ start, end: last }) => last > before && start < cut)
      .map((span) => ({ ...span, start: Math.max(span.start, before) - before, end: span.end - before }));
    const replaced = this.#finder.replace(text.slice(before, cut), inside);
    this.#context = text.slice(Math.max(0, cut - CONTEXT), cut);
    this.#held = text.slice(cut);
    return replaced;
  }
}

/** A regular expression would take quadratic time on a long word. */
function lastWordStart(text: string): number {
  const first = Math.max(0, text.length - LONGEST);
  let start = text.length;
  while (start > first && /\S/.test(text.charAt(start - 1))) start -= 1;
  return start;
}

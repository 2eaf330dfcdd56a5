import { wholeWordsLength } from "./output.ts";
import { showControls, showOnOneLine } from "./plain-text.ts";

/** A line that the pattern was found in. */
export interface Match {
  /** From the root. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** The line, perhaps cut. */
  readonly text: string;
}

const MOST_MATCHES = 200;
const MOST_BYTES = 60_000;
/** Counting ends here, and with it the search. */
export const MOST_COUNTED = 10_000;
const LONGEST_LINE = 300;
/** What a line of a key is made of, in a row that tells something. */
const KEY_LIKE = /[A-Za-z0-9+/]{16,}/g;

/**
 * The matches of one search: the first ones in full, of the others the number. Of files that are not `open` nothing is
 * taken, nor told how many matched: that alone would say what is in them.
 */
export class Matches {
  readonly #isOpen: ((path: string) => boolean) | undefined;
  readonly #lines: string[] = [];
  #bytes = 0;
  #count = 0;
  #isFull = false;
  /** Of files of which a line is shown that may be one of a key, the last such line. */
  readonly #mayHoldKeys = new Map<string, number>();

  constructor(isOpen?: (path: string) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Whether more is wanted. */
  add(match: Match): boolean {
    if (this.#isOpen?.(match.path) === false) return true;
    this.#count += 1;
    if (!this.#isFull) {
      const line = `${showOnOneLine(match.path)}:${match.line}:${shorten(match.text)}\n`;
      this.#bytes += Buffer.byteLength(line);
      this.#isFull = this.#lines.length === MOST_MATCHES || this.#bytes > MOST_BYTES;
      if (!this.#isFull) this.#show(match, line);
    }
    return this.#count < MOST_COUNTED;
  }

  /** Files of which a line is shown that may be one of a private key, with the number of the last such line. */
  get mayHoldKeys(): ReadonlyMap<string, number> {
    return this.#mayHoldKeys;
  }

  #show({ path, line, text }: Match, shown: string): void {
    this.#lines.push(shown);
    if (text.match(KEY_LIKE)?.some((word) => /[A-Z]/.test(word) && /[a-z]/.test(word)))
      this.#mayHoldKeys.set(path, line);
  }

  /** `path:line:text` for each match, and notes; `stopped` says why the search is not complete, if so. */
  text(stopped?: string): string {
    const notes: string[] = [];
    if (this.#count === 0 && stopped === undefined) notes.push("[no matches]");
    if (this.#lines.length < this.#count) {
      const all = this.#count < MOST_COUNTED ? String(this.#count) : `more than ${MOST_COUNTED}`;
      notes.push(
        `[the first ${this.#lines.length} of ${all} matching lines; narrow the search with path, glob or a longer pattern]`,
      );
    }
    if (this.#isOpen) notes.push("[not searched: files that rules on reading close]");
    if (stopped !== undefined) notes.push(`[${stopped}]`);
    return this.#lines.join("") + notes.map((note) => `${note}\n`).join("");
  }
}

function shorten(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= LONGEST_LINE) return showControls(text);
  return `${showControls(bytes.toString("utf8", 0, wholeWordsLength(bytes.subarray(0, LONGEST_LINE))))} [...]`;
}

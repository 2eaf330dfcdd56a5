import { parseJsonText } from "@banyan/core/shown";

/** Number of chunks that are parsed before learning: for a short answer, learning costs more than parsing. */
const SHORT = 12;

/** Number of chunks in a row that differ in more than a text and counts, before learning stops. */
const PATIENCE = 8;

/**
 * Counts of tokens, which grow with each chunk. A 0 is part of the form, so that no count in a known form is 0. A quote
 * behind a backslash is inside a string, and so is the number behind it.
 */
const COUNTS = /(?<=[^\\]": ?)[1-9]\d*(?=[,}\]])/g;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Reads chunks that differ only in one text and in counts, without parsing them. Keeps the form of a parsed chunk, and
 * relies on this form once a second chunk has it.
 */
export class RepeatedChunks {
  #say: (text: string) => void = () => {};
  /** The chunk before the text, with the quote. */
  #before = "";
  /** The chunk from the quote after the text, without its counts. */
  #after: readonly string[] = [];
  #first = "";
  #confirmed = false;
  #patience = PATIENCE;
  #parsed = 0;
  #last: string | undefined;

  get learns(): boolean {
    return this.#parsed > SHORT && this.#patience > 0;
  }

  /** Passes on the text of a chunk in the known form. Returns false for chunks that the caller must parse. */
  read(chunk: string): boolean {
    const text = this.#confirmed ? this.#textIn(chunk) : undefined;
    if (text === undefined) {
      this.#parsed++;
      return false;
    }
    this.#last = chunk;
    this.#say(text);
    return true;
  }

  /** Returns the last chunk that was read without parsing, once: its counts are newer than those of all before it. */
  takeLast(): string | undefined {
    const last = this.#last;
    this.#last = undefined;
    return last;
  }

  /** `text`: the only string that can change the chunk's meaning. `say` gets this string of later chunks. */
  learn(chunk: string, text: string, say: (text: string) => void): void {
    if (text !== this.#first && this.#textIn(chunk) === text) {
      this.#confirmed = true;
      this.#say = say;
      this.#patience = PATIENCE;
      return;
    }
    const written = JSON.stringify(text);
    const at = chunk.indexOf(written) + 1;
    if (at === 0) return;
    this.#before = chunk.slice(0, at);
    this.#after = chunk.slice(at + written.length - 2).split(COUNTS);
    this.#first = text;
    this.#confirmed = false;
    this.#patience--;
  }

  #textIn(chunk: string): string | undefined {
    const start = this.#before.length;
    // Slices compare faster than `startsWith`, which compares character by character.
    if (start === 0 || chunk.slice(0, start) !== this.#before) return;
    let end = start;
    let isPlain = true;
    for (let unit = chunk.charCodeAt(end); unit !== QUOTE; unit = chunk.charCodeAt(++end)) {
      if (unit === BACKSLASH) {
        isPlain = false;
        end++;
      } else if (!(unit >= 0x20)) return;
    }
    let at = end;
    for (const piece of this.#after) {
      if (at !== end) at = afterCount(chunk, at);
      const next = at + piece.length;
      if (chunk.slice(at, next) !== piece) return;
      at = next;
    }
    if (at !== chunk.length) return;
    const text = chunk.slice(start, end);
    return isPlain ? text : (parseJsonText(`"${text}"`) as string | undefined);
  }
}

/** Returns the index after a count, or a place that matches nothing if there is no count. */
function afterCount(chunk: string, from: number): number {
  let at = from;
  let unit = chunk.charCodeAt(at);
  if (unit === 0x30) return chunk.length + 1;
  while (unit >= 0x30 && unit <= 0x39) unit = chunk.charCodeAt(++at);
  return at === from ? chunk.length + 1 : at;
}

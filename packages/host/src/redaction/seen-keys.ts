import type { Span } from "./span.ts";

/** Characters of a piece by which a key is known again, and how far apart they are looked for. */
const PIECE = 12;
const STEP = 4;
/** Fewer characters in a row of a key tell nothing. */
const SHORTEST = PIECE + STEP - 1;
/** What stands between the first line of a key and its body: how it is encrypted, who made it. */
const HEADER = /[A-Za-z-]{3,20}: [^\r\n\\"]{0,200}/g;
const WORD = /[A-Za-z0-9+/=]{15,}/g;

/** Pieces of keys that are remembered, the oldest given up first: some 600 keys of the usual size. */
const MOST = 1_000_000;

/** What every key of a kind has, and its public half too. */
const COMMON = [
  "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAA",
  "AAAAB3NzaC1yc2EAAAADAQABAAA",
  "AAAAC3NzaC1lZDI1NTE5AAAAI",
  "BgkqhkiG9w0BAQEFAA",
  "MBMGByqGSM49AgEGCCqGSM49AwEH",
];

/**
 * The private keys that were seen as a whole, or in a piece that says what it is. Whatever piece of one stands in a text later
 * (S22), a range of a file, a hit of a search, a line of a diff, is known by these, whatever stands around it.
 */
export class SeenKeys {
  readonly #pieces = new Set<string>();

  /** Remembers a key: the text of it, with all that stands between its lines. */
  add(key: string): void {
    const body = (key.replace(HEADER, "").match(/[A-Za-z0-9+/=]{16,}/g) ?? []).join("");
    for (let at = 0; at + PIECE <= body.length; at += 1) {
      const piece = body.slice(at, at + PIECE);
      if (!this.#pieces.has(piece) && isTelling(piece)) this.#pieces.add(piece);
    }
    for (const piece of this.#pieces) {
      if (this.#pieces.size <= MOST) break;
      this.#pieces.delete(piece);
    }
  }

  /** Where pieces of them stand in a text. */
  find(text: string): Span[] {
    if (this.#pieces.size === 0) return [];
    return Array.from(text.matchAll(WORD)).flatMap(({ index, 0: word }) => this.#inWord(word, index));
  }

  #inWord(word: string, offset: number): Span[] {
    const found: Span[] = [];
    const has = (at: number) => this.#pieces.has(word.slice(at, at + PIECE));
    for (let at = 0; at + PIECE <= word.length; at += STEP) {
      if (!has(at)) continue;
      let start = at;
      while (start > 0 && has(start - 1)) start -= 1;
      while (at + PIECE < word.length && has(at + 1)) at += 1;
      const end = at + PIECE;
      if (end - start >= SHORTEST) found.push({ start: offset + start, end: offset + end, kind: "private-key" });
      at = end - STEP;
    }
    return found;
  }
}

/** Not one character again and again, and nothing that public keys have too. */
function isTelling(piece: string): boolean {
  return new Set(piece).size > 4 && !COMMON.some((common) => common.includes(piece));
}

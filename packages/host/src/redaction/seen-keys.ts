import type { SecretSpan } from "./span.ts";

/** Characters of a piece that identifies a key, and the distance between tested pieces. */
const PIECE = 12;
const STEP = 4;
const SHORTEST = PIECE + STEP - 1;
/** Header lines between the first line of a key and its body. */
const HEADER = /[A-Za-z-]{3,20}: [^\r\n\\"]{0,200}/g;
const WORD = /[A-Za-z0-9+/=]{15,}/g;

/** Maximum remembered pieces, oldest dropped first: about 600 keys of usual size. */
const MOST = 1_000_000;

/** Parts that all keys of a kind and their public halves share. */
const COMMON = [
  "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAA",
  "AAAAB3NzaC1yc2EAAAADAQABAAA",
  "AAAAC3NzaC1lZDI1NTE5AAAAI",
  "BgkqhkiG9w0BAQEFAA",
  "MBMGByqGSM49AgEGCCqGSM49AwEH",
];

/** Remembers private keys that appeared in full or in part, to recognize later fragments (S22). */
export class SeenKeys {
  readonly #pieces = new Set<string>();

  /** `key`: with the text between its lines. */
  add(key: string): void {
    const body = (key.replace(HEADER, "").match(/[A-Za-z0-9+/=]{16,}/g) ?? []).join("");
    for (let at = 0; at + PIECE <= body.length; at += 1) {
      const piece = body.slice(at, at + PIECE);
      if (!this.#pieces.has(piece) && isTellingPiece(piece)) this.#pieces.add(piece);
    }
    for (const piece of this.#pieces) {
      if (this.#pieces.size <= MOST) break;
      this.#pieces.delete(piece);
    }
  }

  find(text: string): SecretSpan[] {
    if (this.#pieces.size === 0) return [];
    return Array.from(text.matchAll(WORD)).flatMap(({ index, 0: word }) => this.#inWord(word, index));
  }

  #inWord(word: string, offset: number): SecretSpan[] {
    const found: SecretSpan[] = [];
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

/** True if a piece identifies a key: more than four different characters, and not shared with public keys. */
function isTellingPiece(piece: string): boolean {
  return new Set(piece).size > 4 && !COMMON.some((common) => common.includes(piece));
}

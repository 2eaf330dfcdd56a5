import { cutAfter, cutBefore, cutTo } from "@banyan/core/shown";

/** How many bytes of an output are kept from its beginning and from its end. */
export interface OutputLimits {
  readonly head: number;
  readonly tail: number;
}

/**
 * Takes secrets out of a text that comes in pieces, which may break anywhere (S10): `push` returns what is safe to pass on
 * so far, `end` the rest. It has to come before any cut, as half a secret looks like none.
 */
export interface Redaction {
  push(text: string): string;
  end(): string;
}

/** A piece may keep a larger buffer alive, so there are never more of them than this. */
const MOST_PIECES = 256;
/** Bytes before the tail, and UTF-16 units behind the head, that are kept too: where a character ends depends on them. */
const AROUND = 256;

/**
 * Keeps the beginning and the end of an output of any length in bounded memory: the first `head` bytes and the last
 * `tail` bytes. What lies between is counted and forgotten. Cuts fall between characters, as users see them (F46).
 */
export class BoundedOutput {
  readonly #limits: OutputLimits;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  /** The text behind the head. */
  #behind = "";
  /** Pieces, oldest first; together never more than two tails long, and never many. */
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  constructor(limits: OutputLimits) {
    this.#limits = limits;
  }

  /** All bytes that were pushed so far. */
  get bytes(): number {
    return this.#bytes;
  }

  push(text: string): void {
    let bytes = Buffer.from(text, "utf8");
    this.#bytes += bytes.length;
    const room = this.#limits.head - this.#headBytes;
    if (room > 0 && this.#tailBytes === 0) {
      const taken = wholeLength(bytes.subarray(0, room));
      this.#head.push(bytes.subarray(0, taken));
      this.#headBytes += taken;
      bytes = bytes.subarray(taken);
    }
    if (bytes.length === 0) return;
    if (this.#behind.length < AROUND) this.#behind += bytes.toString("utf8", 0, AROUND);
    // A piece of a larger buffer is copied, so that the rest of that buffer can go.
    const most = this.#limits.tail + AROUND;
    this.#tail.push(bytes.length > most ? Buffer.from(bytes.subarray(bytes.length - most)) : bytes);
    this.#tailBytes += Math.min(bytes.length, most);
    if (this.#tailBytes > 2 * most || this.#tail.length > MOST_PIECES) this.#compact();
  }

  /** What was kept; where bytes are missing, a line says how many. */
  text(): string {
    this.#compact();
    const head = Buffer.concat(this.#head).toString("utf8");
    const kept = this.#tail[0] ?? Buffer.alloc(0);
    if (this.#bytes <= this.#headBytes + Math.min(kept.length, this.#limits.tail)) return head + kept.toString("utf8");
    const whole = kept.subarray(cutAfterByte(kept, 0));
    const from = cutAfterByte(whole, Math.max(0, whole.length - this.#limits.tail));
    const text = whole.toString("utf8");
    const tail = text.slice(cutAfter(text, whole.toString("utf8", 0, from).length));
    const begin = head.slice(0, cutBefore(head + this.#behind, head.length));
    const dropped = this.#bytes - Buffer.byteLength(begin) - Buffer.byteLength(tail);
    return `${begin}\n[... ${dropped} bytes dropped ...]\n${tail}`;
  }

  #compact(): void {
    const all = Buffer.concat(this.#tail);
    const kept = all.subarray(Math.max(0, all.length - this.#limits.tail - AROUND));
    this.#tail = [kept === all ? all : Buffer.from(kept)];
    this.#tailBytes = kept.length;
  }
}

/** The beginning of a text in at most so many bytes, without half a character at its end. */
export function cutToBytes(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  return cutTo(text, buffer.toString("utf8", 0, wholeLength(buffer.subarray(0, bytes))).length, "");
}

/** The length of these bytes without a character of UTF-8 that is cut at their end. */
export function wholeLength(bytes: Uint8Array): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead];
  if (first === undefined || first < 0xc0) return bytes.length;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return lead + needed > bytes.length ? lead : bytes.length;
}

/** Bytes of a word from which on, and up to which, a cut leaves it out as a whole: shorter ones tell nothing. */
const WORD = { shortest: 8, longest: 512 };

/**
 * The same without a word that may be cut at their end: whoever takes secrets out of a text afterwards knows none by its
 * half (S10).
 */
export function wholeWordsLength(bytes: Uint8Array): number {
  const end = wholeLength(bytes);
  let start = end;
  while (start > 0 && end - start <= WORD.longest && isOfWord(bytes[start - 1])) start -= 1;
  const length = end - start;
  return start > 0 && length >= WORD.shortest && length <= WORD.longest ? start : end;
}

/** What keys, tokens and passwords in addresses are made of. */
function isOfWord(byte = 0): boolean {
  return /[\w.\-+/=~:@%]/.test(String.fromCharCode(byte));
}

/** The nearest place at or after `from` that does not lie inside a code point of UTF-8. */
function cutAfterByte(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

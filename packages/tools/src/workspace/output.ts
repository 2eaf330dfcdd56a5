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

/**
 * Keeps the beginning and the end of an output of any length in bounded memory: the first `head` bytes and the last
 * `tail` bytes. What lies between is counted and forgotten. Cuts fall between characters, never inside one.
 */
export class BoundedOutput {
  readonly #limits: OutputLimits;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
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
    // A piece of a larger buffer is copied, so that the rest of that buffer can go.
    this.#tail.push(
      bytes.length > this.#limits.tail ? Buffer.from(bytes.subarray(bytes.length - this.#limits.tail)) : bytes,
    );
    this.#tailBytes += Math.min(bytes.length, this.#limits.tail);
    if (this.#tailBytes > 2 * this.#limits.tail || this.#tail.length > MOST_PIECES) this.#compact();
  }

  /** What was kept; where bytes are missing, a line says how many. */
  text(): string {
    this.#compact();
    const head = Buffer.concat(this.#head);
    const tail = this.#tail[0] ?? Buffer.alloc(0);
    const dropped = this.#bytes - head.length - tail.length;
    if (dropped === 0) return Buffer.concat([head, tail]).toString("utf8");
    const from = cutAfter(tail);
    return `${head.toString("utf8")}\n[... ${dropped + from} bytes dropped ...]\n${tail.subarray(from).toString("utf8")}`;
  }

  #compact(): void {
    const all = Buffer.concat(this.#tail);
    const kept = all.subarray(Math.max(0, all.length - this.#limits.tail));
    this.#tail = [kept === all ? all : Buffer.from(kept)];
    this.#tailBytes = kept.length;
  }
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

/** The smallest start that does not lie inside a character of UTF-8. */
function cutAfter(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

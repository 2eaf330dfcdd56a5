import { cutAfter, cutBefore, cutTo } from "@banyan/core/shown";

/** Number of bytes to keep at the beginning and at the end of an output. */
export interface OutputLimits {
  readonly head: number;
  readonly tail: number;
}

/**
 * Removes secrets from a text that arrives in pieces, which may end anywhere (S10). `push` returns the text that is
 * safe so far, `end` the rest. Redact before cutting a text: half a secret is not recognized.
 * See {@link WorkspaceToolsOptions}.
 */
export interface Redaction {
  push(text: string): string;
  end(): string;
}

/** Maximum number of pieces to hold: a piece may keep a larger buffer alive. */
const MOST_PIECES = 256;
const AROUND = 256;

/**
 * Keeps the first `head` bytes and the last `tail` bytes of an output in bounded memory. Other bytes are only counted.
 * Cuts lie between characters as users see them (F46).
 */
export class BoundedOutput {
  readonly #limits: OutputLimits;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #behind = "";
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  constructor(limits: OutputLimits) {
    this.#limits = limits;
  }

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
    const most = this.#limits.tail + AROUND;
    this.#tail.push(bytes.length > most ? Buffer.from(bytes.subarray(bytes.length - most)) : bytes);
    this.#tailBytes += Math.min(bytes.length, most);
    if (this.#tailBytes > 2 * most || this.#tail.length > MOST_PIECES) this.#compact();
  }

  /** Returns the kept text. A line in the middle has the number of missing bytes. */
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

/** Returns the beginning of a text, at most `bytes` long, without half a character. */
export function cutToBytes(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  return cutTo(text, buffer.toString("utf8", 0, wholeLength(buffer.subarray(0, bytes))).length, "");
}

/** Returns the length of bytes without an incomplete UTF-8 character at the end. */
export function wholeLength(bytes: Uint8Array): number {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead];
  if (first === undefined || first < 0xc0) return bytes.length;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return lead + needed > bytes.length ? lead : bytes.length;
}

/** Lengths in bytes of a cut word that is left out. A shorter piece of a secret reveals nothing. */
const WORD = { shortest: 8, longest: 512 };

/** Returns the length of bytes without a last word that may be cut: half a secret would not be redacted later (S10). */
export function wholeWordsLength(bytes: Uint8Array): number {
  const end = wholeLength(bytes);
  let start = end;
  while (start > 0 && end - start <= WORD.longest && isOfWord(bytes[start - 1])) start -= 1;
  const length = end - start;
  return start > 0 && length >= WORD.shortest && length <= WORD.longest ? start : end;
}

/** Returns whether a byte can be part of a key, a token or a password in an address. */
function isOfWord(byte = 0): boolean {
  return /[\w.\-+/=~:@%]/.test(String.fromCharCode(byte));
}

function cutAfterByte(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

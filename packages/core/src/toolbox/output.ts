import { cutBefore } from "../conversation/shown/visible-text.ts";

const encoder = new TextEncoder();

/** Default bytes of a tool's output for the model. */
export const DEFAULT_OUTPUT = 64 * 1024;

/** Converts a tool's return value to text for the model. Throws for a value without a JSON form. */
export function outputText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`The tool returned a ${typeof value}, which cannot be written as JSON.`);
  if (typeof value === "object" && text === "{}" && isLostInJson(value)) {
    const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
    throw new TypeError(`The tool returned a value of type ${kind}, which JSON cannot represent.`);
  }
  return text;
}

/** True if a value has content although its JSON is an empty object: an error, a map, a set, a stream. */
function isLostInJson(value: object): boolean {
  return value instanceof Error || Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** Cuts a text to `limit` bytes of UTF-8: keeps the beginning and the end, with the number of removed bytes between. */
export function boundText(text: string, limit: number): string {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= limit) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= limit) return text;
  const decoder = new TextDecoder();
  const headEnd = characterStart(bytes, Math.ceil(limit / 2));
  const tailStart = characterStart(bytes, bytes.length - Math.floor(limit / 2));
  const head = decoder.decode(bytes.subarray(0, headEnd));
  const tail = decoder.decode(bytes.subarray(tailStart));
  // Neither cut splits a visible character.
  const begin = cutBefore(text, head.length);
  const end = cutBefore(text, text.length - tail.length);
  const left = encoder.encode(text.slice(begin, end)).length;
  return `${text.slice(0, begin)}\n[... ${left} of ${bytes.length} bytes left out here ...]\n${text.slice(end)}`;
}

/** Returns the nearest position at or before `at` where a character begins. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

/** Collects text, but keeps only its beginning and its end, together about `limit` bytes at most. */
export class BoundedText {
  readonly #limit: number;
  #head = "";
  #tail = "";
  #dropped = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(text: string): void {
    const half = Math.ceil(this.#limit / 2);
    const isFull = this.#tail !== "" || this.#dropped > 0;
    const room = isFull ? 0 : cutBefore(text, half - this.#head.length);
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    // Cuts only now and then, because each cut copies the text.
    if (this.#tail.length <= 2 * half) return;
    const cut = cutBefore(this.#tail, this.#tail.length - half);
    this.#dropped += encoder.encode(this.#tail.slice(0, cut)).length;
    this.#tail = this.#tail.slice(cut);
  }

  toString(): string {
    if (this.#dropped === 0) return boundText(this.#head + this.#tail, this.#limit);
    return `${this.#head}\n[... ${this.#dropped} bytes left out here ...]\n${this.#tail.slice(cutBefore(this.#tail, this.#tail.length - this.#limit))}`;
  }
}

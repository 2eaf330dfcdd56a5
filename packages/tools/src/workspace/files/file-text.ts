import { isUtf8 } from "node:buffer";
import type { FileHandle } from "node:fs/promises";
import { TextDecoder } from "node:util";
import type { KeyWatch } from "./key-file.ts";
import { wholeLength, wholeWordsLength } from "./output.ts";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** The kind of a file by its first bytes: text with its encoding, or binary. */
export type FileForm =
  | {
      readonly kind: "text";
      readonly encoding: Encoding;
      /** The length of the byte-order mark, in bytes. */
      readonly mark: number;
    }
  | { readonly kind: "binary"; readonly what: string };

/** The number of bytes that `detectFileForm` needs. */
export const SNIFFED_BYTES = 8000;

/** File formats by their first bytes, in Latin-1. */
export const SIGNATURES: readonly (readonly [start: string, what: string])[] = [
  ["\x89PNG\r\n", "a PNG image"],
  ["\xff\xd8\xff", "a JPEG image"],
  ["GIF8", "a GIF image"],
  ["%PDF-", "a PDF document"],
  ["PK\x03\x04", "a ZIP archive or an office document"],
  ["\x1f\x8b", "gzip data"],
  ["BZh", "bzip2 data"],
  ["\xfd7zXZ\0", "xz data"],
  ["\x28\xb5\x2f\xfd", "Zstandard data"],
  ["\x7fELF", "a program (ELF)"],
  ["\xcf\xfa\xed\xfe", "a program (Mach-O)"],
  ["MZ\x90\0", "a program (Windows)"],
  ["\0asm", "a WebAssembly module"],
  ["SQLite format 3\0", "an SQLite database"],
  ["\xca\xfe\xba\xbe", "a Java class or a program (Mach-O)"],
  ["ID3", "MP3 sound"],
  ["OggS", "Ogg media"],
];

/**
 * Detects text by the first `SNIFFED_BYTES`: a null byte means binary, unless a byte-order mark means UTF-16.
 * @example detectFileForm(Buffer.from("GIF89a\0")) // { kind: "binary", what: "a GIF image" }
 */
export function detectFileForm(start: Buffer): FileForm {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return { kind: "text", encoding: "utf-8", mark: 3 };
  if (start[0] === 0xff && start[1] === 0xfe) return { kind: "text", encoding: "utf-16le", mark: 2 };
  if (start[0] === 0xfe && start[1] === 0xff) return { kind: "text", encoding: "utf-16be", mark: 2 };
  const latin = start.toString("latin1", 0, 16);
  const known = SIGNATURES.find(([signature]) => latin.startsWith(signature));
  const hasNull = start.includes(0);
  // Text can begin like a signature ("BZh"), but is then valid text as a whole.
  if (known !== undefined && (hasNull || !isUtf8(start.subarray(0, wholeLength(start)))))
    return { kind: "binary", what: known[1] };
  return hasNull ? { kind: "binary", what: "binary data" } : { kind: "text", encoding: "utf-8", mark: 0 };
}

export interface FileLine {
  /** From 1. */
  readonly number: number;
  /** UTF-8 without the line end, cut at the splitter's limit. */
  readonly bytes: Buffer;
  readonly dropped: number;
}

/** Receives a text as UTF-8 in pieces. */
export interface TextSink {
  /** Adds a piece. Returns whether more is wanted. The buffer may be reused afterwards. */
  push(piece: Buffer): boolean;
  end(): void;
}

/**
 * Splits bytes into lines, from the line `first` on. The bytes arrive in pieces. At most `limit` bytes of a line are
 * held; the rest is counted. `take` gets each line and returns whether it wants more.
 */
export class LineSplitter implements TextSink {
  readonly #limit: number;
  readonly #first: number;
  readonly #take: (line: FileLine) => boolean;
  #number = 1;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #dropped = 0;
  /** True if the current line has begun: after the last line end, an empty rest is no line. */
  #begun = false;
  #done = false;

  constructor(options: { readonly limit: number; readonly first: number; readonly take: (line: FileLine) => boolean }) {
    this.#limit = options.limit;
    this.#first = options.first;
    this.#take = options.take;
  }

  push(piece: Buffer): boolean {
    let from = 0;
    while (!this.#done && from < piece.length) {
      const end = piece.indexOf(0x0a, from);
      this.#keep(piece.subarray(from, end < 0 ? piece.length : end), end < 0);
      if (end < 0) break;
      this.#finish();
      from = end + 1;
    }
    return !this.#done;
  }

  end(): void {
    if (this.#begun && !this.#done) this.#finish();
  }

  #keep(bytes: Buffer, copy: boolean): void {
    this.#begun = true;
    if (this.#number < this.#first) return;
    const kept = bytes.subarray(0, Math.max(0, this.#limit - this.#heldBytes));
    this.#dropped += bytes.length - kept.length;
    if (kept.length === 0) return;
    this.#held.push(copy ? Buffer.from(kept) : kept);
    this.#heldBytes += kept.length;
  }

  #finish(): void {
    if (this.#number >= this.#first) {
      const [only] = this.#held;
      const all = this.#held.length === 1 && only !== undefined ? only : Buffer.concat(this.#held);
      const whole = this.#dropped === 0 ? all.length : wholeWordsLength(all);
      const end = this.#dropped === 0 && all.at(-1) === 0x0d ? whole - 1 : whole;
      const wants = this.#take({
        number: this.#number,
        bytes: all.subarray(0, end),
        dropped: this.#dropped + all.length - whole,
      });
      this.#done = !wants;
    }
    this.#number += 1;
    this.#held = [];
    this.#heldBytes = 0;
    this.#dropped = 0;
    this.#begun = false;
  }
}

const PIECE = 256 * 1024;

/** Allocates a buffer for `feedLines`. Readers of many files reuse the buffer. */
export function pieceOfFile(): Buffer {
  return Buffer.allocUnsafe(PIECE);
}

export interface FeedOptions {
  readonly signal?: AbortSignal;
  readonly piece?: Buffer;
  /** Gets all text before its lines are passed on. */
  readonly watch?: KeyWatch | undefined;
  /** Gets the beginning of the file first. Throws if the file must not be read. */
  readonly judge?: (start: Buffer) => void;
}

/**
 * Reads a text file as UTF-8 without its byte-order mark, and passes the pieces to a sink. Ends when the sink has
 * enough or the file ends. Throws the signal's reason after an abort. Returns the kind of the file; a binary file is
 * not passed on.
 */
export async function feedLines(
  handle: FileHandle,
  sink: TextSink,
  { signal, piece = pieceOfFile(), watch, judge }: FeedOptions = {},
): Promise<FileForm> {
  let form: FileForm | undefined;
  let decoder: TextDecoder | undefined;
  const see = watch?.();
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    let bytes = piece.subarray(0, bytesRead);
    if (form === undefined) {
      judge?.(bytes);
      form = detectFileForm(bytes.subarray(0, SNIFFED_BYTES));
      if (form.kind === "binary") return form;
      bytes = bytes.subarray(form.mark);
      if (form.encoding !== "utf-8") decoder = new TextDecoder(form.encoding);
    }
    if (bytesRead === 0) break;
    at += bytesRead;
    const text = decoder === undefined ? bytes : Buffer.from(decoder.decode(bytes, { stream: true }));
    see?.(text.toString("latin1"));
    if (!sink.push(text)) return form;
  }
  sink.end();
  return form;
}

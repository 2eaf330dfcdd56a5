import type { Transform } from "node:stream";

/** Codings one over the other: more than anybody needs is an attack. */
const MOST = 3;

/** What is unpacked of a stream, as it comes. */
export interface Unpacked {
  data(bytes: Buffer): void;
  end(): void;
  failed(cause: Error): void;
  /** There is room for more to be written. */
  room(): void;
}

/** The codings of a body (https://www.rfc-editor.org/rfc/rfc9110#section-8.4), the innermost first. */
export function codingsOf(header: string | readonly string[] | undefined): string[] {
  const names = String(header ?? "")
    .toLowerCase()
    .split(",");
  return names.map((name) => name.trim()).filter((name) => name !== "" && name !== "identity");
}

/** Whether a body with these codings can be read. */
export function canUnpack(codings: readonly string[]): boolean {
  return codings.length <= MOST && codings.every((coding) => KNOWN.has(coding));
}

const KNOWN = new Set(["gzip", "x-gzip", "deflate", "br", "zstd"]);

/**
 * Unpacks a body piece by piece: what has come in full is handed on, without waiting for more. It never holds more than a few
 * pieces; whoever cannot take more pauses it, and then `write` says that there is no room.
 */
export class Unpacker {
  readonly #codings: readonly string[];
  readonly #to: Unpacked;
  #streams: readonly Transform[] = [];
  #isOver = false;

  constructor(codings: readonly string[], to: Unpacked) {
    this.#codings = codings;
    this.#to = to;
  }

  /** Returns `false` when nothing more should be written before there is room. */
  write(bytes: Buffer): boolean {
    if (this.#isOver) return true;
    if (this.#streams.length === 0) this.#open(bytes[0] ?? 0);
    return this.#streams[0]?.write(bytes) ?? true;
  }

  /** Nothing more comes. */
  end(): void {
    if (this.#isOver) return;
    const [first] = this.#streams;
    if (first) first.end();
    else this.#finish(() => this.#to.end());
  }

  pause(): void {
    this.#streams.at(-1)?.pause();
  }

  resume(): void {
    this.#streams.at(-1)?.resume();
  }

  /** Nobody needs the rest. */
  destroy(): void {
    this.#isOver = true;
    for (const stream of this.#streams) stream.destroy();
  }

  #open(first: number): void {
    // The outermost coding is undone first.
    const streams = this.#codings.toReversed().map((coding, index) => undoing(coding, index === 0 ? first : undefined));
    for (const [index, stream] of streams.entries()) {
      stream.on("error", (cause: Error) => this.#finish(() => this.#to.failed(cause)));
      const next = streams[index + 1];
      if (next) stream.pipe(next);
    }
    streams[0]?.on("drain", () => {
      if (!this.#isOver) this.#to.room();
    });
    const last = streams.at(-1);
    last?.on("data", (bytes: Buffer) => {
      if (!this.#isOver) this.#to.data(bytes);
    });
    last?.on("end", () => this.#finish(() => this.#to.end()));
    this.#streams = streams;
  }

  #finish(tell: () => void): void {
    if (this.#isOver) return;
    this.destroy();
    tell();
  }
}

/** The memory that a body may ask for (https://www.rfc-editor.org/rfc/rfc9659#section-3). */
const ZSTD_WINDOW = 23;

function undoing(coding: string, first: number | undefined): Transform {
  // Most answers are not packed, and a program that has none to unpack does not load what does it.
  const zlib = process.getBuiltinModule("node:zlib");
  const { constants } = zlib;
  switch (coding) {
    case "br":
      return zlib.createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    case "zstd":
      return zlib.createZstdDecompress({
        flush: constants.ZSTD_e_flush,
        finishFlush: constants.ZSTD_e_flush,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW },
      });
    default: {
      const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
      if (coding !== "deflate") return zlib.createGunzip(flush);
      // Some servers leave out the head that the standard asks for.
      return first === undefined || (first & 0x0f) === 8 ? zlib.createInflate(flush) : zlib.createInflateRaw(flush);
    }
  }
}

import type { Transform } from "node:stream";

/** Maximum number of nested codings: more is an attack. */
const MOST = 3;

/** Receives the unpacked data of a body. */
export interface UnpackerOutput {
  data(bytes: Uint8Array): void;
  end(): void;
  failed(cause: Error): void;
  /** Called when there is room to write more. */
  room(): void;
}

/** Returns the content codings of a body (https://www.rfc-editor.org/rfc/rfc9110#section-8.4), innermost first. */
export function codingsOf(header: string | readonly string[] | undefined): string[] {
  const names = String(header ?? "")
    .toLowerCase()
    .split(",");
  return names.map((name) => name.trim()).filter((name) => name !== "" && name !== "identity");
}

/** Returns whether `Unpacker` supports all these content codings. */
export function canUnpack(codings: readonly string[]): boolean {
  return codings.length <= MOST && codings.every((coding) => KNOWN.has(coding));
}

const KNOWN = new Set(["gzip", "x-gzip", "deflate", "br", "zstd"]);

/** Decompresses a body piece by piece. `write` returns `false` while the receiver has no room. */
export class Unpacker {
  readonly #codings: readonly string[];
  readonly #to: UnpackerOutput;
  #streams: readonly Transform[] = [];
  #isOver = false;

  constructor(codings: readonly string[], to: UnpackerOutput) {
    this.#codings = codings;
    this.#to = to;
  }

  /** Returns `false` if the caller must wait for `room` before the next write. */
  write(bytes: Uint8Array): boolean {
    if (this.#isOver) return true;
    if (this.#streams.length === 0) this.#open(bytes[0] ?? 0);
    return this.#streams[0]?.write(bytes) ?? true;
  }

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

  destroy(): void {
    this.#isOver = true;
    for (const stream of this.#streams) stream.destroy();
  }

  #open(first: number): void {
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
    last?.on("data", (bytes: Uint8Array) => {
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

/** Maximum window of a body, log2 of bytes (https://www.rfc-editor.org/rfc/rfc9659#section-3). */
const ZSTD_WINDOW = 23;

function undoing(coding: string, first: number | undefined): Transform {
  // biome-ignore lint/correctness/noProcessGlobal: only undici leaves bodies packed, and it runs on Node.
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
      // Some servers omit the zlib header that the standard requires.
      return first === undefined || (first & 0x0f) === 8 ? zlib.createInflate(flush) : zlib.createInflateRaw(flush);
    }
  }
}

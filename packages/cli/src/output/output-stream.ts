/**
 * A standard stream that may be slow or closed. Writing never throws. When the reader closes the stream (EPIPE),
 * `onGone` is called once, and later output is dropped.
 */
export class OutputStream {
  readonly #stream: NodeJS.WriteStream;
  #gone = false;

  constructor(stream: NodeJS.WriteStream, onGone: () => void = () => {}) {
    this.#stream = stream;
    stream.on("error", () => {
      if (this.#gone) return;
      this.#gone = true;
      onGone();
    });
  }

  get gone(): boolean {
    return this.#gone;
  }

  write(text: string): void {
    if (!this.#gone) this.#stream.write(text);
  }

  /** True if the reader is so far behind that writing should wait. */
  get isFull(): boolean {
    return !this.#gone && this.#stream.writableNeedDrain;
  }

  /** Resolves when writing can continue, or the reader is gone. */
  async room(): Promise<void> {
    while (this.isFull) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#stream.off("drain", done).off("error", done).off("close", done);
          resolve();
        };
        this.#stream.on("drain", done).on("error", done).on("close", done);
      });
    }
  }

  /** Resolves when all output has left the process, however slow the reader (T37), or the reader is gone. */
  async flush(): Promise<void> {
    if (this.#gone) return;
    await new Promise<void>((resolve) => {
      this.#stream.once("error", () => resolve());
      this.#stream.write("", () => resolve());
    });
  }
}

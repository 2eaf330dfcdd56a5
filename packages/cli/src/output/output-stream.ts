/**
 * A standard stream that may be slow or gone. Writing never throws; when the reader goes away (EPIPE), `onGone` is called
 * once and what is written from then on is dropped.
 */
export class OutputStream {
  readonly #stream: NodeJS.WriteStream;
  #gone = false;

  constructor(stream: NodeJS.WriteStream, onGone: () => void = () => {}) {
    this.#stream = stream;
    stream.on("error", () => {
      // Whatever the error: nobody can be told any more over this stream.
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

  /** Whether the reader is behind by so much that nothing more should be written for now. */
  get isFull(): boolean {
    return !this.#gone && this.#stream.writableNeedDrain;
  }

  /** Resolves when the reader has taken as much as it needs to go on, or is gone. */
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

  /** Resolves when all that was written has left the process, however slow the reader (T37), or when it is gone. */
  async flush(): Promise<void> {
    if (this.#gone) return;
    await new Promise<void>((resolve) => {
      this.#stream.once("error", () => resolve());
      this.#stream.write("", () => resolve());
    });
  }
}

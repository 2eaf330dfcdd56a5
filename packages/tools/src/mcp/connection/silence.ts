/**
 * Ends something that gives no sign of life for too long. The time does not run while a person is asked: they may take
 * theirs.
 */
export class Silence implements Disposable {
  /** Aborts with `outer`, or with a `SilenceError` when the time is up. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #most: number;
  #timer: NodeJS.Timeout | undefined;
  #questions = 0;

  /** `most` is in milliseconds. */
  constructor(most: number, outer: AbortSignal) {
    this.#most = most;
    this.signal = AbortSignal.any([outer, this.#controller.signal]);
    this.heard();
  }

  /** A sign of life: the time begins anew. */
  heard(): void {
    clearTimeout(this.#timer);
    if (this.#questions > 0 || this.signal.aborted) return;
    this.#timer = setTimeout(() => this.#controller.abort(new SilenceError(this.#most)), this.#most);
  }

  /** Stops the time while a person is asked. */
  async during<T>(question: () => Promise<T>): Promise<T> {
    this.#questions += 1;
    clearTimeout(this.#timer);
    try {
      return await question();
    } finally {
      this.#questions -= 1;
      this.heard();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#questions = Number.POSITIVE_INFINITY;
  }
}

/** The time is up. */
export class SilenceError extends Error {
  override readonly name = "SilenceError";

  constructor(milliseconds: number) {
    super(`no sign of life for ${milliseconds.toLocaleString("en")} ms`);
  }
}

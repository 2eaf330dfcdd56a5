/**
 * Aborts a request without a sign of life after some time. The time stops while a user is asked: a user may take any
 * time to answer.
 */
export class Silence implements Disposable {
  /** Aborts with `outer`, or with a `ServerSilenceError` after `most` milliseconds of silence. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #most: number;
  #timer: NodeJS.Timeout | undefined;
  #questions = 0;

  constructor(most: number, outer: AbortSignal) {
    this.#most = most;
    this.signal = AbortSignal.any([outer, this.#controller.signal]);
    this.heard();
  }

  /** Reports a sign of life: the time starts again. */
  heard(): void {
    clearTimeout(this.#timer);
    if (this.#questions > 0 || this.signal.aborted) return;
    this.#timer = setTimeout(() => this.#controller.abort(new ServerSilenceError(this.#most)), this.#most);
  }

  /** Stops the time while a user answers. */
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

/** The reason of a signal that aborted after too much silence. */
export class ServerSilenceError extends Error {
  override readonly name = "ServerSilenceError";

  constructor(milliseconds: number) {
    super(`no sign of life for ${milliseconds.toLocaleString("en")} ms`);
  }
}

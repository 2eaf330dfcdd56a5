/** Aborts a request if the server sends nothing for some time. The clock stops while a user answers a question. */
export class Silence implements Disposable {
  /** Aborts with the reason of `outer`, or with a `ServerSilenceError` after `most` milliseconds of silence. */
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

  /** Restarts the time after a sign of life. */
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

/** The abort reason after too much silence of a server. */
export class ServerSilenceError extends Error {
  override readonly name = "ServerSilenceError";

  constructor(milliseconds: number) {
    super(`no sign of life for ${milliseconds.toLocaleString("en")} ms`);
  }
}

/** Commands that may come at once, and how many a second after that. */
const AT_ONCE = 200;
const A_SECOND = 50;
/** Commands too many after which a client is sent away. */
const PATIENCE = 10 * AT_ONCE;

/** How fast a client may ask for things: a bucket that fills by itself. */
export class Pace {
  #left = AT_ONCE;
  #at: number;

  constructor(now = performance.now()) {
    this.#at = now;
  }

  /** Whether one more command may be carried out now: `busy` when not, `hasty` when the client does not heed that. */
  next(now = performance.now()): "go" | "busy" | "hasty" {
    this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#at) / 1_000) * A_SECOND);
    this.#at = now;
    this.#left -= 1;
    if (this.#left >= 0) return "go";
    return this.#left > -PATIENCE ? "busy" : "hasty";
  }
}

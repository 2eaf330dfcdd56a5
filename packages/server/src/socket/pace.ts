/** Commands that may come at once, and commands per second after that. */
const AT_ONCE = 200;
const A_SECOND = 50;
/** Commands above the limit after which the client is disconnected. */
const PATIENCE = 10 * AT_ONCE;

/** Limits the command rate of a client: a token bucket. */
export class Pace {
  #left = AT_ONCE;
  #at: number;

  constructor(now = performance.now()) {
    this.#at = now;
  }

  /** Counts a command. Returns `busy` if the command must not run now, and `hasty` if the client ignores `busy`. */
  next(now = performance.now()): "go" | "busy" | "hasty" {
    this.#left = Math.min(AT_ONCE, this.#left + ((now - this.#at) / 1_000) * A_SECOND);
    this.#at = now;
    this.#left -= 1;
    if (this.#left >= 0) return "go";
    return this.#left > -PATIENCE ? "busy" : "hasty";
  }
}

import { setImmediate } from "node:timers/promises";

/** How long, in ms, something may go on until everything else has its turn. */
const LONGEST = 10;

/** Pauses in long work that is done in one thread with everything else. */
export class Pauses {
  readonly #signal: AbortSignal | undefined;
  #until = performance.now() + LONGEST;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time for a pause. */
  get due(): boolean {
    return performance.now() > this.#until;
  }

  /** Lets everything else have its turn. Throws the signal's reason when it has aborted. */
  async take(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#until = performance.now() + LONGEST;
  }
}

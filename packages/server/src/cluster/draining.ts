import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two looks whether all has ended. */
const LOOK = 50;
/** Milliseconds within which a balancer asks again, and how often it wants to hear that a server is not ready. */
const BALANCER = 10_000;
const HEARD = 2;

/**
 * How a node ends while clients work: it opens nothing any more, and what runs, what clients wait for, and the balancer that sends
 * them here have some time. A balancer asks from time to time; who left before it asked would have clients sent to nobody.
 */
export class Draining {
  #hasBegun = false;
  /** When a balancer asked last, in milliseconds of the process, and how often it heard since this began that it is over. */
  #asked = Number.NEGATIVE_INFINITY;
  #heard = 0;
  #waiting = 0;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** A balancer asks whether clients may be sent here. */
  isReady(): boolean {
    this.#asked = performance.now();
    if (this.#hasBegun) this.#heard++;
    return !this.#hasBegun;
  }

  /** Something that a client waits for. */
  async serve<Result>(work: Promise<Result>): Promise<Result> {
    this.#waiting++;
    try {
      return await work;
    } finally {
      this.#waiting--;
    }
  }

  /** Begins, and resolves when nothing is at work, nobody waits and the balancer knows; at the latest after so many milliseconds. */
  async begin(time: number, isAtWork: () => boolean): Promise<void> {
    this.#hasBegun = true;
    const begun = performance.now();
    const knows = () => this.#heard >= HEARD || performance.now() - this.#asked > BALANCER;
    while ((isAtWork() || this.#waiting > 0 || !knows()) && performance.now() - begun < time) await sleep(LOOK);
  }
}

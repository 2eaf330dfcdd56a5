import { setImmediate } from "node:timers/promises";

/** Maximum milliseconds of a slice, apart from its last piece of work. */
const SLICE = 4;

/** Splits long work into slices, so that other work of this process, such as streams, runs between two slices. */
export class Slices {
  #began = performance.now();

  /** True if the work must await `next` now. */
  get isOver(): boolean {
    return performance.now() - this.#began >= SLICE;
  }

  /** Lets other work run, and begins the next slice. */
  async next(): Promise<void> {
    await setImmediate();
    this.#began = performance.now();
  }
}

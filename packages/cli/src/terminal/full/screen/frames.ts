/** Milliseconds from one frame to the next, at the least: 20 frames a second (T21). */
export const FRAME_TIME = 50;

/**
 * Says when to draw. What changes between two frames is drawn with the second; the first change after a pause is drawn
 * as soon as everything else of its moment has happened.
 */
export class Frames {
  readonly #draw: () => void;
  #timer: NodeJS.Timeout | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #held = false;
  #wanted = false;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  /** Something changed. */
  request(): void {
    if (this.#held) this.#wanted = true;
    else this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#lastAt + FRAME_TIME - performance.now()));
  }

  /** Draws now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#held) return;
    this.#lastAt = performance.now();
    this.#draw();
  }

  /** Draws nothing until `release`: the terminal has not taken all yet, or somebody else has it. */
  hold(): void {
    this.#held = true;
    this.#wanted ||= this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Draws what changed meanwhile. */
  release(): void {
    this.#held = false;
    if (this.#wanted) this.request();
    this.#wanted = false;
  }
}

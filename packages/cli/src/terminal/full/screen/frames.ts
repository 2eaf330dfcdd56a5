/** Minimum milliseconds between frames: 20 frames per second (T21). */
export const FRAME_TIME = 50;

/**
 * Schedules frames. A frame contains all changes since the previous frame. The first change after a pause is drawn as
 * soon as other pending work is done.
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

  request(): void {
    if (this.#held) this.#wanted = true;
    else this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#lastAt + FRAME_TIME - performance.now()));
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#held) return;
    this.#lastAt = performance.now();
    this.#draw();
  }

  /** Draws nothing until `release`: the terminal is slow, or lent to another program. */
  hold(): void {
    this.#held = true;
    this.#wanted ||= this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  release(): void {
    this.#held = false;
    if (this.#wanted) this.request();
    this.#wanted = false;
  }
}

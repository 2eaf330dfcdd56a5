import type { Keyboard } from "./keys/keyboard.ts";
import type { Modes } from "./keys/modes.ts";
import type { Screen } from "./screen/screen.ts";

/** What a lease is about. */
export interface LeaseOptions {
  readonly modes: Modes;
  readonly keyboard: Keyboard;
  readonly screen: Screen;
}

/**
 * The terminal, as long as it is ours: its modes, its keys, its last lines. It is given back when the program ends, stops,
 * or lets another one have it for a while (T8, T31).
 */
export class Lease {
  readonly #options: LeaseOptions;
  #isTaken = false;
  #isLent = false;
  #isOver = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    process.on("SIGCONT", this.#continued);
    this.#take();
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Gives it back for good. */
  end(): void {
    this.#isOver = true;
    process.off("SIGCONT", this.#continued);
    this.#give();
  }

  /** Gives it to somebody else, for as long as that takes. */
  async lend<T>(borrow: () => Promise<T>): Promise<T> {
    this.#give();
    this.#isLent = true;
    try {
      return await borrow();
    } finally {
      this.#isLent = false;
      this.#take();
    }
  }

  /** Stops the whole job, also what this was started by, until the shell continues it. */
  suspend(): void {
    if (process.platform === "win32") return;
    this.#give();
    process.kill(0, "SIGTSTP");
    // This runs when it has been continued, or at once where nobody could do that.
    setImmediate(() => this.#take());
  }

  #take(): void {
    if (this.#isTaken || this.#isLent || this.#isOver) return;
    this.#isTaken = true;
    this.#options.modes.enter();
    this.#options.keyboard.start();
    this.#options.screen.open();
  }

  #give(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#options.screen.close();
    this.#options.keyboard.stop();
    this.#options.modes.leave();
  }

  readonly #continued = (): void => {
    // Whatever happened to it while this was stopped, it is ours again.
    this.#give();
    this.#take();
  };
}

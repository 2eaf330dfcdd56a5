import type { Keyboard } from "./keys/keyboard.ts";
import type { Modes } from "./keys/modes.ts";
import type { Screen } from "./screen/screen.ts";

export interface LeaseOptions {
  readonly modes: Modes;
  readonly keyboard: Keyboard;
  readonly screen: Screen;
}

/**
 * The program's control over the terminal: its modes, keys and last lines. The program gives up this control when it
 * ends, is suspended, or lends the terminal to another program (T8, T31).
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

  end(): void {
    this.#isOver = true;
    process.off("SIGCONT", this.#continued);
    this.#give();
  }

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

  /** Stops the whole job, including the parent, until the shell continues it. */
  suspend(): void {
    if (process.platform === "win32") return;
    this.#give();
    process.kill(0, "SIGTSTP");
    // Runs after the job continues, or at once if no shell can continue it.
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
    // Set up again: other programs may have changed the terminal meanwhile.
    this.#give();
    this.#take();
  };
}

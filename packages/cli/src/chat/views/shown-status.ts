import type { ConversationState } from "@banyan/core";
import { type CommandPlace, gitBranch } from "@banyan/host";
import type { Terminal } from "../../terminal/terminal.ts";
import { OwnStatus } from "./own-status.ts";
import { type Standing, statusFacts, statusOf } from "./status-of.ts";

/** Whose status is shown, and where. */
export interface ShownStatusOptions {
  readonly terminal: Pick<Terminal, "live">;
  readonly place: Pick<CommandPlace, "directory" | "isElsewhere">;
  /** A command of the person's own that says what stands below the prompt. */
  readonly command: string | undefined;
  state(): ConversationState;
  standing(): Omit<Standing, "git" | "own">;
  /** What is wrong with the command, in a sentence. */
  tell(sentence: string): void;
}

/** What stands below the prompt: the usual line, or that of a command of the person's own. */
export class ShownStatus implements AsyncDisposable {
  readonly #options: ShownStatusOptions;
  readonly #own: OwnStatus | undefined;

  constructor(options: ShownStatusOptions) {
    this.#options = options;
    const { command, terminal, place, state, tell } = options;
    if (command === undefined || !terminal.live) return;
    this.#own = new OwnStatus({
      ...{ command, tell, directory: place.directory },
      facts: () => statusFacts(state(), this.#standing, place.directory),
      changed: () => this.#draw(),
    });
  }

  /** Shows how it stands now. */
  show(): void {
    if (!this.#options.terminal.live) return;
    this.#draw();
    this.#own?.refresh();
  }

  /** Resolves when nothing of it runs any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own?.[Symbol.asyncDispose]();
  }

  #draw(): void {
    const { terminal, state } = this.#options;
    terminal.live?.status(statusOf(state(), this.#standing));
  }

  get #standing(): Standing {
    const { place, standing } = this.#options;
    // What git says here is nothing about a folder of another machine.
    const git = place.isElsewhere ? undefined : gitBranch(place.directory);
    return { ...standing(), git, own: this.#own?.line };
  }
}

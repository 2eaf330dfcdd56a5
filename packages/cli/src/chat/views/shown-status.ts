import type { ConversationState } from "@banyan/core";
import { gitBranch, type UserCommandContext } from "@banyan/host";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import { OwnStatus } from "./own-status.ts";
import { promptStatus, type StatusFacts, statusFacts } from "./prompt-status.ts";

export interface PromptStatusOptions {
  readonly terminal: Pick<Terminal, "live">;
  readonly context: Pick<UserCommandContext, "directory" | "isElsewhere">;
  readonly command: string | undefined;
  state(): ConversationState;
  standing(): Omit<StatusFacts, "git" | "own">;
  tell(sentence: string): void;
}

/** The status below the prompt: the default line, or the line of the user's own command. */
export class PromptStatus implements AsyncDisposable {
  readonly #options: PromptStatusOptions;
  readonly #own: OwnStatus | undefined;

  constructor(options: PromptStatusOptions) {
    this.#options = options;
    const { command, terminal, context, state, tell } = options;
    if (command === undefined || !terminal.live) return;
    this.#own = new OwnStatus({
      command,
      tell,
      directory: context.directory,
      facts: () => statusFacts(state(), this.#standing, context.directory),
      changed: () => this.#draw(),
    });
  }

  show(): void {
    if (!this.#options.terminal.live) return;
    this.#draw();
    this.#own?.refresh();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own?.[Symbol.asyncDispose]();
  }

  #draw(): void {
    const { terminal, state } = this.#options;
    terminal.live?.status(promptStatus(state(), this.#standing));
  }

  get #standing(): StatusFacts {
    const { context, standing } = this.#options;
    // Ask git only about a folder of this machine.
    const git = context.isElsewhere ? undefined : gitBranch(context.directory);
    return { ...standing(), git, own: this.#own?.line };
  }
}

import type { ConversationState } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import { gitBranch, type UserCommandContext } from "@banyan/host";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import { OwnStatus } from "./own-status.ts";
import { promptStatus, type StatusFacts, statusFacts } from "./prompt-status.ts";

export interface PromptStatusOptions {
  readonly terminal: Pick<Terminal, "live">;
  readonly context: Pick<UserCommandContext, "directory" | "isElsewhere">;
  readonly command: string | undefined;
  state(): ConversationState;
  standing(): Omit<StatusFacts, "directory" | "git" | "own">;
  /** The text of the prompt. */
  prompt(): string;
  /** Returns the folder of the worktree of the user's branch, if the folder is on this machine. */
  worktree(): Promise<string | undefined>;
  tell(sentence: string): void;
}

/** The status below the prompt: the default line, or the line of the user's own command. */
export class PromptStatus implements AsyncDisposable {
  readonly #options: PromptStatusOptions;
  readonly #own: OwnStatus | undefined;
  #prompt: string | undefined;
  /** The worktree of the user's branch and its folder, once known. */
  #worktree: { readonly name: string; readonly folder: string | undefined } | undefined;

  constructor(options: PromptStatusOptions) {
    this.#options = options;
    const { command, terminal, context, state, tell } = options;
    if (command === undefined || !terminal.live) return;
    this.#own = new OwnStatus({
      command,
      tell,
      directory: context.directory,
      facts: () => statusFacts(state(), this.#standing),
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
    const { terminal, state, prompt } = this.#options;
    if (prompt() !== this.#prompt) {
      this.#prompt = prompt();
      terminal.live?.configure({ prompt: this.#prompt });
    }
    terminal.live?.status(promptStatus(state(), this.#standing));
    const worktree = this.#name;
    if (worktree === undefined || worktree === this.#worktree?.name) return;
    this.#worktree = { name: worktree, folder: undefined };
    this.#find(worktree).catch(() => {
      // The status line has the name of the worktree without its git branch.
    });
  }

  get #name(): string | undefined {
    return worktreeAt(this.#options.state(), this.#options.standing().leaf);
  }

  async #find(name: string): Promise<void> {
    const folder = await this.#options.worktree();
    if (folder === undefined || name !== this.#name) return;
    this.#worktree = { name, folder };
    this.show();
  }

  get #standing(): StatusFacts {
    const { context, standing } = this.#options;
    const worktree = this.#name;
    const found = worktree === this.#worktree?.name ? this.#worktree?.folder : undefined;
    // Ask git only about a folder of this machine.
    const folder = worktree === undefined && !context.isElsewhere ? context.directory : found;
    const git = folder === undefined ? undefined : gitBranch(folder);
    return { ...standing(), directory: folder ?? context.directory, git, own: this.#own?.line };
  }
}

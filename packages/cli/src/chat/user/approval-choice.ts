import { type Client, ClientError } from "@banyan/client";
import type { ApprovalMode } from "@banyan/host";
import { approvalIn, offeredModes } from "@banyan/protocol";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import { agreesToAll, approvalSentence, nextApproval, STILL_ASKED } from "../views/approval-mode.ts";

export interface ApprovalChoiceOptions {
  readonly client: Client;
  readonly terminal: Terminal;
  note(sentence: string): void;
  here(): string | undefined;
  /** Returns the conversation, or begins it. */
  open(): Promise<{ readonly id: string }>;
}

/** The user's approval mode, which decides which calls run without asking. All connected clients learn of a change. */
export class ApprovalChoice {
  readonly #options: ApprovalChoiceOptions;
  /** The mode that the user was last told. */
  #told: ApprovalMode;
  #asking: AbortController | undefined;

  constructor(options: ApprovalChoiceOptions) {
    this.#options = options;
    this.#told = options.client.welcome.settings.approval;
  }

  /** The modes that the user can choose. */
  get offered(): readonly ApprovalMode[] {
    return offeredModes(this.#options.client.welcome.settings);
  }

  get mode(): ApprovalMode {
    const { client, here } = this.#options;
    return approvalIn(client.welcome.settings, here());
  }

  /** Called when the user enters another conversation. Its mode is not announced. */
  entered(): void {
    this.#told = this.mode;
  }

  /** Announces the mode if the server's settings changed it. */
  settingsChanged(): void {
    const { mode } = this;
    if (mode !== this.#told) this.#options.note(approvalSentence(mode));
    this.#told = mode;
  }

  /** Resolves with whether the mode is used. Mode `all` needs a yes of the user in this conversation (S27). */
  async use(mode: ApprovalMode): Promise<boolean> {
    const { client, note, open } = this.#options;
    if (mode !== "all") {
      await client.ask("approval.use", { mode });
      return true;
    }
    const conversation = (await open()).id;
    try {
      await client.ask("approval.use", { mode, conversation });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      const isAgreed = error.code === "unconfirmed" && (await this.#agrees());
      if (!isAgreed) {
        note(error.code === "unconfirmed" ? STILL_ASKED : error.message);
        return false;
      }
      await client.ask("approval.use", { mode, conversation, confirmed: true });
    }
    return true;
  }

  /** Changes to the next mode. The first mode follows the last one, or `all` if the user or the server refuses it. */
  async next(): Promise<void> {
    // Pressing the key again skips the open question.
    if (this.#asking) return this.#asking.abort();
    const next = nextApproval(this.mode, this.offered);
    if (!(await this.use(next)) && next === "all") await this.use("ask");
  }

  async #agrees(): Promise<boolean> {
    const { terminal, note } = this.#options;
    const asking = new AbortController();
    this.#asking = asking;
    try {
      return await agreesToAll(terminal, note, asking.signal);
    } finally {
      this.#asking = undefined;
    }
  }
}

import { type Client, ClientError } from "@banyan/client";
import type { ApprovalMode } from "@banyan/host";
import { approvalIn } from "@banyan/protocol";
import type { Terminal } from "../../terminal/terminal.ts";
import { agreesToAll, approvalSentence, nextApproval, STILL_ASKED } from "../views/approval-mode.ts";

/** Where a person chooses, and how they are told. */
export interface ApprovalChoiceOptions {
  readonly client: Client;
  readonly terminal: Terminal;
  note(sentence: string): void;
  /** The id of the conversation that they are in; none before the first message. */
  here(): string | undefined;
  /** The conversation, begun if there is none yet. */
  open(): Promise<{ readonly id: string }>;
}

/** What runs without asking where a person is, and their choice of it: everybody at the desk is told. */
export class ApprovalChoice {
  readonly #options: ApprovalChoiceOptions;
  /** As it was told last. */
  #told: ApprovalMode;
  /** Ends the question whether nothing is to be asked, while that is open. */
  #asking: AbortController | undefined;

  constructor(options: ApprovalChoiceOptions) {
    this.#options = options;
    this.#told = options.client.welcome.settings.approval;
  }

  get mode(): ApprovalMode {
    const { client, here } = this.#options;
    return approvalIn(client.welcome.settings, here());
  }

  /** The person is in another conversation, which needs not be said. */
  entered(): void {
    this.#told = this.mode;
  }

  /** The settings of the desk may be others now. */
  settingsChanged(): void {
    const { mode } = this;
    if (mode !== this.#told) this.#options.note(approvalSentence(mode));
    this.#told = mode;
  }

  /** Resolves with whether it is taken: `all` is, once a person has said yes to it in this conversation (S27). */
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

  /** The one after the last is the first, also when a person does not want the last, or the desk refuses it. */
  async next(): Promise<void> {
    // Who presses the key once more goes past what is asked.
    if (this.#asking) return this.#asking.abort();
    const next = nextApproval(this.mode);
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

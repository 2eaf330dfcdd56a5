import { type ConversationState, type FeedItem, type Message, pathTo } from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";

/** The run that the user sees. If several runs work at once: the run on the user's branch. */
export class ShownRun {
  readonly #state: () => ConversationState;
  #run: string | undefined;

  constructor(state: () => ConversationState) {
    this.#state = state;
  }

  get working(): string | undefined {
    return this.#run !== undefined && this.#state().runs.has(this.#run) ? this.#run : undefined;
  }

  leave(): void {
    this.#run = undefined;
  }

  is(run: string): boolean {
    return this.#run === run;
  }

  /** Shows a run that is already live. Returns whether there is one. */
  find(live: readonly LiveRun[]): boolean {
    this.#run = live.find(({ call }) => call === undefined)?.id;
    return this.#run !== undefined;
  }

  /** Shows a new run if no live run is shown, and the run is the user's own or on the branch of `at`. */
  begin(item: Extract<FeedItem, { type: "run.started" }>, at: string | undefined, isOwn: boolean): void {
    if (item.call !== undefined || this.working !== undefined) return;
    if (isOwn || at === undefined || pathTo(this.#state(), item.leaf).some(({ id }) => id === at)) {
      this.#run = item.run;
    }
  }

  /** Returns whether a message is at the end of the shown run's path. True if no run is shown. */
  isAt({ id, parentId }: Message): boolean {
    const leaf = this.#leaf;
    return leaf === undefined || leaf === id || leaf === parentId;
  }

  /** Returns whether an item belongs to the run, or to one of its sub-agents. */
  has(item: FeedItem): boolean {
    if ("run" in item && item.type !== "message.started") {
      const call = "call" in item ? item.call : this.#state().runs.get(item.run ?? "")?.call;
      return item.run === this.#run || (typeof call === "string" && this.#launched(call));
    }
    const message = "message" in item ? this.#state().messages.get(item.message) : undefined;
    return message === undefined || this.#hasMessage(message, item.type);
  }

  #hasMessage(message: Message, type?: FeedItem["type"]): boolean {
    if (message.call !== undefined) return this.#launched(message.call);
    if (message.role !== "assistant") return true;
    // After the end of its run, a file changes only because a user undoes a change.
    if (type === "file.changed" && !this.#state().runs.has(message.run)) return true;
    // A resumed run carries out the calls of another run's response.
    return message.run === this.#run || message.id === this.#leaf;
  }

  /** Returns whether the run, or one of its sub-agents, made the call that launched a sub-agent. */
  #launched(call: string): boolean {
    const { calls, messages } = this.#state();
    const launcher = messages.get(calls.get(call) ?? "");
    return launcher === undefined || this.#hasMessage(launcher);
  }

  get #leaf(): string | null | undefined {
    return this.#state().runs.get(this.#run ?? "")?.leaf;
  }
}

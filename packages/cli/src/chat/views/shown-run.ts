import { type ConversationState, type FeedItem, type Message, pathTo } from "@banyan/core";
import type { LiveRun } from "@banyan/core/conversation";

/** Which of the runs of a conversation a person sees: of several branches that are written at once, the one where they are. */
export class ShownRun {
  readonly #state: () => ConversationState;
  #run: string | undefined;

  constructor(state: () => ConversationState) {
    this.#state = state;
  }

  /** The run, while it is live. */
  get working(): string | undefined {
    return this.#run !== undefined && this.#state().runs.has(this.#run) ? this.#run : undefined;
  }

  /** None is shown any more. */
  leave(): void {
    this.#run = undefined;
  }

  /** Whether it is this run. */
  is(run: string): boolean {
    return this.#run === run;
  }

  /** Takes a run that is under way already, of those that are. Returns whether there is one. */
  find(live: readonly LiveRun[]): boolean {
    this.#run = live.find(({ call }) => call === undefined)?.id;
    return this.#run !== undefined;
  }

  /** Takes a run that begins where the person is, at the end of the branch of `at`, or that is their own, while none is shown. */
  begin(item: Extract<FeedItem, { type: "run.started" }>, at: string | undefined, isOwn: boolean): void {
    if (item.call !== undefined || this.working !== undefined) return;
    if (isOwn || at === undefined || pathTo(this.#state(), item.leaf).some(({ id }) => id === at)) {
      this.#run = item.run;
    }
  }

  /** Whether a message stands where the run does: at the end of its path. While none is shown, every message does. */
  isAt({ id, parentId }: Message): boolean {
    const leaf = this.#leaf;
    return leaf === undefined || leaf === id || leaf === parentId;
  }

  /** Whether an item belongs to the run, or to a sub-agent of it. */
  has(item: FeedItem): boolean {
    // What a run that is not shown does is another branch's.
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
    // Whose run is over changes nothing: a person has taken something back.
    if (type === "file.changed" && !this.#state().runs.has(message.run)) return true;
    // A run that resumes carries out the calls of an answer that another one began.
    return message.run === this.#run || message.id === this.#leaf;
  }

  /** Whether a call that launched a sub-agent is one of the run, or of a sub-agent of it. */
  #launched(call: string): boolean {
    const { calls, messages } = this.#state();
    const launcher = messages.get(calls.get(call) ?? "");
    return launcher === undefined || this.#hasMessage(launcher);
  }

  get #leaf(): string | null | undefined {
    return this.#state().runs.get(this.#run ?? "")?.leaf;
  }
}

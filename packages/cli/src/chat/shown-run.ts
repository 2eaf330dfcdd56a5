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

  /** Whether an item belongs to the run, or to a sub-agent. */
  has(item: FeedItem): boolean {
    // Calls of a run at the top that is not shown are another branch's.
    if ("run" in item && item.type !== "message.started")
      return item.run === this.#run || ("depth" in item ? item.depth > 0 : "call" in item);
    const message = "message" in item ? this.#state().messages.get(item.message) : undefined;
    if (message?.role !== "assistant" || message.call !== undefined) return true;
    // Whose run is over changes nothing: a person has taken something back.
    if (item.type === "file.changed" && !this.#state().runs.has(message.run)) return true;
    // A run that resumes carries out the calls of an answer that another one began.
    return message.run === this.#run || message.id === this.#leaf;
  }

  get #leaf(): string | null | undefined {
    return this.#state().runs.get(this.#run ?? "")?.leaf;
  }
}

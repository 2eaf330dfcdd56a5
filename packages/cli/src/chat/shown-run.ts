import { type ConversationState, type FeedItem, type Message, pathTo } from "@banyan/core";
import { addCost, addUsage, type LiveRun, noUsage } from "@banyan/core/conversation";
import type { Spent } from "../show/turn-line.ts";

const NOTHING = { steps: 0, usage: noUsage, cost: 0 };

/** Which of the runs of a conversation a person sees: of several branches that are written at once, the one where they are. */
export class ShownRun {
  readonly #state: () => ConversationState;
  #run: string | undefined;
  /** What it has taken; nothing is known of a run that was not seen to begin. */
  #spent: (Omit<Spent, "model"> & { readonly model?: string }) | undefined;

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
    this.#spent = undefined;
  }

  /** Whether it is this run. */
  is(run: string): boolean {
    return this.#run === run;
  }

  /** Takes a run that is under way already, of those that are. Returns whether there is one. */
  find(live: readonly LiveRun[]): boolean {
    this.#run = live.find(({ call }) => call === undefined)?.id;
    this.#spent = undefined;
    return this.#run !== undefined;
  }

  /** Takes a run that begins where the person is, at the end of the branch of `at`, or that is their own, while none is shown. */
  begin(item: Extract<FeedItem, { type: "run.started" }>, at: string | undefined, isOwn: boolean): void {
    if (item.call !== undefined || this.working !== undefined) return;
    if (isOwn || at === undefined || pathTo(this.#state(), item.leaf).some(({ id }) => id === at)) {
      this.#run = item.run;
      this.#spent = NOTHING;
    }
  }

  /** What it has taken, its sub-agents included; nothing when it was not seen to begin. `model`: when none was asked. */
  spent(model: string): Spent | undefined {
    return this.#spent && { model, ...this.#spent };
  }

  /** Counts what an item says that a model took for the run. */
  count(item: FeedItem): void {
    if (!this.#spent) return;
    if (item.type === "message.started" && item.run === this.#run)
      this.#spent = { ...this.#spent, model: item.model, steps: this.#spent.steps + 1 };
    if (!("usage" in item) || item.usage === undefined || !this.#isFor(item)) return;
    const usage = addUsage(this.#spent.usage, item.usage);
    this.#spent = { ...this.#spent, usage, cost: addCost(this.#spent.cost, "cost" in item ? item.cost : undefined) };
  }

  /** Whether an item was done for the run: by it, or by a sub-agent that it launched, at whatever depth. */
  #isFor(item: FeedItem): boolean {
    const { messages, calls } = this.#state();
    let message = "message" in item ? messages.get(item.message) : undefined;
    while (message?.call !== undefined) message = messages.get(calls.get(message.call) ?? "");
    if (message?.role === "assistant") return message.run === this.#run || message.id === this.#leaf;
    return "run" in item && item.run === this.#run;
  }

  /** Whether a message stands where the run does: at the end of its path. While none is shown, every message does. */
  isAt({ id, parentId }: Message): boolean {
    const leaf = this.#leaf;
    return leaf === undefined || leaf === id || leaf === parentId;
  }

  /** Whether an item belongs to the run, or to a sub-agent. */
  has(item: FeedItem): boolean {
    if ("run" in item && item.type !== "message.started") return item.run === this.#run || "call" in item;
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

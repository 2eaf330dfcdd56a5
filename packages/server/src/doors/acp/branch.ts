import { type ConversationState, type FeedItem, pathTo } from "@banyan/core/conversation";
import { isFirstOfFork } from "./fork.ts";

/**
 * The branch that an editor shows: the messages down to its end, and the runs that write there, with their sub-agents.
 * Any client can extend the branch below its end. Siblings of its messages belong to other branches.
 */
export class EditorBranch {
  readonly #first: string | undefined;
  #leaf: string | null;
  readonly #messages = new Set<string>();
  readonly #runs = new Map<string, string | undefined>();
  readonly #above = new Map<string, string | null>();

  /** `first`: the first message of a fork. */
  constructor(state: ConversationState, leaf: string | null, first?: string) {
    this.#first = first;
    this.#leaf = leaf;
    this.goTo(state, leaf);
  }

  get leaf(): string | null {
    return this.#leaf;
  }

  goTo(state: ConversationState, leaf: string | null): void {
    this.#leaf = leaf;
    this.#messages.clear();
    this.#runs.clear();
    for (const { id } of pathTo(state, leaf)) this.#messages.add(id);
    // Includes sub-agents, whose questions are asked here. A sub-agent's messages follow the message that launched it.
    for (const message of state.messages.values()) {
      if (message.call === undefined || !this.#hasCall(state, message.call)) continue;
      this.#messages.add(message.id);
      if (message.role === "assistant") this.#runs.set(message.run, message.call);
    }
    for (const { id, call, leaf: end } of [...state.runs.values(), ...state.waiting.values()])
      if (call === undefined ? end !== null && this.#messages.has(end) : this.#hasCall(state, call))
        this.#runs.set(id, call);
  }

  /** Adds a run that this editor started: below the end, or at another message. */
  begin(run: string, leaf: string | null, state: ConversationState): void {
    if (leaf !== this.#leaf) this.goTo(state, leaf);
    this.#runs.set(run, undefined);
  }

  hasMessage(message: string): boolean {
    return this.#messages.has(message);
  }

  /** Returns whether a run, or the run of its parent agent, writes to this branch. */
  hasRun(run: string): boolean {
    return this.#runs.has(run);
  }

  /** The call that launched a sub-agent's run; `undefined` for a run of the main agent. */
  callOf(run: string): string | undefined {
    return this.#runs.get(run);
  }

  /** The run at the end of the branch that works, or waits for a user without a process. */
  liveRun(state: ConversationState): string | undefined {
    const isOpen = (run: string) => state.runs.has(run) || state.waiting.has(run);
    return [...this.#runs].findLast(([run, call]) => call === undefined && isOpen(run))?.[0];
  }

  take(item: FeedItem, state: ConversationState): boolean {
    switch (item.type) {
      case "message.added":
        if (item.call !== undefined || item.parentId !== this.#leaf || this.#isOfOther(item.message))
          return this.#messages.has(item.message);
        return this.#grow(item.message);
      case "message.started": {
        const isOfRun = this.#runs.has(item.run);
        if (item.parentId === this.#leaf && this.#runs.get(item.run) === undefined && !this.#isOfOther(item.message)) {
          this.#runs.set(item.run, undefined);
          return this.#grow(item.message);
        }
        if (isOfRun) this.#messages.add(item.message);
        return isOfRun;
      }
      case "message.abandoned": {
        const above = this.#above.get(item.message);
        if (this.#leaf === item.message && above !== undefined) this.#leaf = above;
        return this.#messages.has(item.message);
      }
      case "run.started":
        if (item.call === undefined ? item.leaf === this.#leaf : this.#hasCall(state, item.call))
          this.#runs.set(item.run, item.call);
        return this.#runs.has(item.run);
      case "context.shortening":
      case "context.not-shortened":
        // A user may compact a branch without a run.
        return this.#runs.has(item.run) || (item.leaf === this.#leaf && this.#isBegun);
      case "approval.withdrawn":
        return true;
      default:
        if ("run" in item && typeof item.run === "string" && this.#runs.has(item.run)) return true;
        return "message" in item && typeof item.message === "string" && this.#messages.has(item.message);
    }
  }

  /** Returns whether a message begins another branch here: a fork, or the branch that this one forks from. */
  #isOfOther(message: string): boolean {
    if (message === this.#first) return false;
    if (isFirstOfFork(message)) return true;
    return !this.#isBegun;
  }

  /** True if the branch has messages of its own. Otherwise, events at its end belong to the branch it forks from. */
  get #isBegun(): boolean {
    return this.#first === undefined || this.#messages.has(this.#first);
  }

  #grow(message: string): true {
    this.#above.clear();
    this.#above.set(message, this.#leaf);
    this.#leaf = message;
    this.#messages.add(message);
    return true;
  }

  #hasCall(state: ConversationState, call: string): boolean {
    const message = state.calls.get(call);
    return message !== undefined && this.#messages.has(message);
  }
}

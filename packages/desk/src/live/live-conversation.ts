import { type Cursor, type FeedItem, isEvent, type RunEnd, type Session } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import type { NarrowedRule } from "@banyan/protocol";
import { Broadcast } from "./broadcast.ts";
import { type ConversationActivity, type FoundMessages, findMessages } from "./elsewhere.ts";
import { ClientFrame, type FeedViewer } from "./frame.ts";
import { stateInShare } from "./shown-only.ts";
import { type ClientConnection, Subscription } from "./subscription.ts";

/** Events of a live conversation, for the server. */
export interface LiveEvents {
  /** The conversation's entry in the list has changed. */
  changed(): void;
  /** A turn of the main agent has ended. */
  turnEnded(reason: Exclude<RunEnd, "waiting">): void;
  /** The session has ended. */
  ended(): void;
  /** Returns the conversation's rules that now allow less than when the user allowed them. */
  narrowed(): readonly NarrowedRule[];
}

/**
 * A conversation that is open on the server: its session and the clients that watch it. Its runs continue while no client watches
 * (B64).
 */
export class LiveConversation {
  readonly session: Session;
  readonly #broadcast: Broadcast;
  readonly #events: LiveEvents;
  readonly #subscriptions = new Map<Subscription, ClientConnection>();
  /** Runs of the main agent, not of sub-agents. */
  readonly #turns = new Set<string>();
  #beginning = 0;
  /** Waiting turns that are being continued. */
  readonly #continuing = new Map<string, Promise<unknown>>();
  /** The reason for closing, for the clients that watch. */
  #reason: "removed" | undefined;
  /** When the conversation was last needed, in milliseconds of the process. */
  #needed = performance.now();

  constructor(session: Session, events: LiveEvents) {
    this.session = session;
    this.#events = events;
    this.#broadcast = new Broadcast(session);
    session.listen({
      items: (items) => {
        for (const item of items) this.#hear(item);
      },
      ended: (error) => this.#ended(error),
    });
  }

  /** Milliseconds since a client last watched the conversation or work ran in it. */
  get idle(): number {
    const { runs, processes } = this.session.state;
    const isAtWork = runs.size > 0 || [...processes.values()].some(({ outcome }) => outcome === undefined);
    if (this.#subscriptions.size > 0 || isAtWork || this.#beginning > 0) this.#needed = performance.now();
    return performance.now() - this.#needed;
  }

  /** True if work is about to begin in the conversation. */
  get isBeginning(): boolean {
    return this.#beginning > 0;
  }

  /** The number of its runs and of its open questions. */
  get activity(): ConversationActivity {
    const { runs, questions } = this.session.state;
    return { running: runs.size, waiting: questions.size };
  }

  /** Adds a client: behind the cursor `from`, or with a snapshot that has the branch of `leaf` in view. */
  async subscribe(line: ClientConnection, from?: Cursor, leaf?: string): Promise<Subscription> {
    await this.#broadcast.settled();
    const failed = (error: unknown) => this.#tellBroken(subscription, line, error);
    const narrowed = () => this.#events.narrowed();
    const subscription: Subscription = new Subscription(this.session, this.#broadcast, line, failed, narrowed);
    this.#subscriptions.set(subscription, line);
    await subscription.begin(from, leaf);
    return subscription;
  }

  unsubscribe(subscription: Subscription): void {
    subscription.end();
    this.#needed = performance.now();
    this.#subscriptions.delete(subscription);
  }

  /** Sends everything that has happened so far to all clients that are in step. */
  flush(): void {
    this.#broadcast.flush();
  }

  /**
   * Reads messages as of the client's position in the feed, and passes them to `answer` in the same tick. `answer` gets the first
   * messages that fit, at least one.
   */
  async read(
    messages: readonly string[],
    { only }: FeedViewer,
    subscription: Subscription | undefined,
    answer: (found: FoundMessages) => void,
  ): Promise<void> {
    await this.#broadcast.settled();
    while (subscription && !subscription.isInStep && this.#subscriptions.has(subscription)) await subscription.inStep();
    this.#broadcast.flush();
    const { state } = this.session;
    const shown = only ? stateInShare(state, only).messages : state.messages;
    answer(findMessages(shown, messages));
  }

  /** Keeps the conversation open while something is about to work in it. */
  async whileBeginning<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#beginning++;
    try {
      return await work();
    } finally {
      this.#beginning--;
    }
  }

  /** Runs `work` for a waiting turn. A call during the same work returns the same promise. */
  onceFor<Result>(run: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#continuing.get(run) as Promise<Result> | undefined;
    if (known) return known;
    const working = work().finally(() => this.#continuing.delete(run));
    this.#continuing.set(run, working);
    return working;
  }

  /** Ends the runs, writes their ends to the log, and releases the log. `reason` goes to the clients that watch. */
  async close(reason?: "removed"): Promise<void> {
    this.#reason = reason;
    await this.session.close();
  }

  #hear(item: FeedItem): void {
    if (!isEvent(item)) return;
    switch (item.type) {
      case "run.started":
        if (item.call === undefined) this.#turns.add(item.run);
        break;
      case "run.ended":
        this.#needed = performance.now();
        // A turn that waits for a user has not ended, even if its process ends.
        if (this.#turns.delete(item.run) && item.reason !== "waiting") this.#events.turnEnded(item.reason);
        break;
      case "message.checkpoint":
      case "call.executing":
        return;
    }
    this.#events.changed();
  }

  #ended(error: unknown): void {
    this.#broadcast.flush();
    if (error !== undefined) this.#tell("broken", errorMessage(error), error);
    else if (this.#reason) this.#tell(this.#reason, "This conversation was removed.");
    for (const subscription of this.#subscriptions.keys()) subscription.end();
    this.#subscriptions.clear();
    this.#events.ended();
  }

  #tell(reason: "removed" | "broken", message: string, cause?: unknown): void {
    this.#broadcast.flush();
    const frame = new ClientFrame({ type: "ended", conversation: this.session.id, reason, message }, { cause });
    for (const [subscription, line] of this.#subscriptions) {
      subscription.end();
      line.send(frame);
    }
    this.#subscriptions.clear();
  }

  /** Ends one subscription whose missed items cannot be read; other clients are not affected. */
  #tellBroken(subscription: Subscription, line: ClientConnection, error: unknown): void {
    this.unsubscribe(subscription);
    const message = `The messages since then cannot be read: ${errorMessage(error)}`;
    line.send(
      new ClientFrame({ type: "ended", conversation: this.session.id, reason: "broken", message }, { cause: error }),
    );
  }
}

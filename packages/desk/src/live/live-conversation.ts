import { type Cursor, type FeedItem, isEvent, type RunEnd, type Session } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import type { NarrowedRule } from "@banyan/protocol";
import { Broadcast } from "./broadcast.ts";
import { type ConversationActivity, type FoundMessages, findMessages } from "./elsewhere.ts";
import { ClientFrame, type FeedViewer } from "./frame.ts";
import { stateInShare } from "./shown-only.ts";
import { type ClientConnection, Subscription } from "./subscription.ts";

/** Callbacks of an open conversation. */
export interface LiveEvents {
  changed(): void;
  turnEnded(reason: Exclude<RunEnd, "waiting">): void;
  ended(): void;
  /** Returns the conversation's rules that now allow less than when the user allowed them. */
  narrowed(): readonly NarrowedRule[];
}

/** A conversation that is open on the server, with its clients. Its runs continue without clients (B64). */
export class LiveConversation {
  readonly session: Session;
  readonly #broadcast: Broadcast;
  readonly #events: LiveEvents;
  readonly #subscriptions = new Map<Subscription, ClientConnection>();
  readonly #turns = new Set<string>();
  #beginning = 0;
  readonly #continuing = new Map<string, Promise<unknown>>();
  #reason: "removed" | undefined;
  /** In milliseconds of `performance.now()`. */
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

  get isBeginning(): boolean {
    return this.#beginning > 0;
  }

  get activity(): ConversationActivity {
    const { runs, questions } = this.session.state;
    return { running: runs.size, waiting: questions.size };
  }

  /** Starts after the cursor `from`, or with a snapshot of the branch of `leaf`. */
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

  flush(): void {
    this.#broadcast.flush();
  }

  /** Passes to `answer`, in the same tick, as many messages as fit, at least one, as of the client's position. */
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

  /** Keeps the conversation open until `work` is done. */
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

  /** Interrupts the runs and releases the log. `reason` goes to the clients that watch. */
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

  /** Other clients are not affected. */
  #tellBroken(subscription: Subscription, line: ClientConnection, error: unknown): void {
    this.unsubscribe(subscription);
    const message = `The latest messages of this conversation cannot be read: ${errorMessage(error)}`;
    line.send(
      new ClientFrame({ type: "ended", conversation: this.session.id, reason: "broken", message }, { cause: error }),
    );
  }
}

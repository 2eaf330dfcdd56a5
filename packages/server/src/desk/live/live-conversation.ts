import { type Cursor, type FeedItem, isEvent, type Message, type RunEnd, type Session } from "@banyan/core";
import type { NarrowedRule } from "@banyan/protocol";
import { sizeOf } from "@banyan/protocol/values";
import type { Activity } from "../elsewhere.ts";
import { Broadcast } from "./broadcast.ts";
import { Frame, type Viewer } from "./frame.ts";
import { stateOnly } from "./shown-only.ts";
import { type Line, Subscription } from "./subscription.ts";

/** UTF-16 units of messages that one answer holds, or one message more. */
const READ_AT_ONCE = 1024 * 1024;

/** What a live conversation tells the server. */
export interface LiveEvents {
  /** What a list says of it is different now. */
  changed(): void;
  /** A turn of the conversation with the person has ended. */
  turnEnded(reason: Exclude<RunEnd, "waiting">): void;
  /** Its session has ended. */
  ended(): void;
  /** Its rules that allow less than when the user allowed them. */
  narrowed(): readonly NarrowedRule[];
}

/**
 * A conversation that is open on the server: its session, and who watches it. What works in it goes on while nobody looks
 * (B64).
 */
export class LiveConversation {
  readonly session: Session;
  readonly #broadcast: Broadcast;
  readonly #events: LiveEvents;
  readonly #subscriptions = new Map<Subscription, Line>();
  /** Runs that are not a sub-agent's. */
  readonly #turns = new Set<string>();
  #beginning = 0;
  /** Turns that waited and are being continued. */
  readonly #continuing = new Map<string, Promise<unknown>>();
  /** Why it is being closed, where those who watch it are told. */
  #reason: "removed" | undefined;
  /** When it was last needed, in milliseconds of the process. */
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

  /** For how many milliseconds nobody has watched it and nothing has worked in it. */
  get idle(): number {
    const { runs, processes } = this.session.state;
    const isAtWork = runs.size > 0 || [...processes.values()].some(({ outcome }) => outcome === undefined);
    if (this.#subscriptions.size > 0 || isAtWork || this.#beginning > 0) this.#needed = performance.now();
    return performance.now() - this.#needed;
  }

  /** Something is about to work in it. */
  get isBeginning(): boolean {
    return this.#beginning > 0;
  }

  /** What goes on in it. */
  get activity(): Activity {
    const { runs, questions } = this.session.state;
    return { running: runs.size, waiting: questions.size };
  }

  /** A client begins to watch: behind a cursor, or with a snapshot in which the branch of `leaf` is in view. */
  async subscribe(line: Line, from?: Cursor, leaf?: string): Promise<Subscription> {
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

  /** Everybody who is in step has everything that happened so far. */
  flush(): void {
    this.#broadcast.flush();
  }

  /**
   * Messages as they are at the place of the feed where a client is, who gets them in `answer`, in the same tick: the
   * first ones that fit, at least one.
   */
  async read(
    messages: readonly string[],
    { only }: Viewer,
    subscription: Subscription | undefined,
    answer: (found: { readonly messages: readonly Message[]; readonly unknown: readonly string[] }) => void,
  ): Promise<void> {
    await this.#broadcast.settled();
    while (subscription && !subscription.isInStep && this.#subscriptions.has(subscription)) await subscription.inStep();
    this.#broadcast.flush();
    const { state } = this.session;
    const shown = only ? stateOnly(state, only).messages : state.messages;
    const found: Message[] = [];
    const unknown: string[] = [];
    let size = 0;
    for (const id of messages) {
      const message = shown.get(id);
      if (!message) {
        unknown.push(id);
        continue;
      }
      size += sizeOf(message);
      if (size > READ_AT_ONCE && found.length > 0) break;
      found.push(message);
    }
    answer({ messages: found, unknown });
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

  /** Does something for a turn that waited, unless that is being done already; then its outcome is the same. */
  onceFor<Result>(run: string, work: () => Promise<Result>): Promise<Result> {
    const known = this.#continuing.get(run) as Promise<Result> | undefined;
    if (known) return known;
    const working = work().finally(() => this.#continuing.delete(run));
    this.#continuing.set(run, working);
    return working;
  }

  /** Ends what runs, with its facts in the log, and lets go of the log. Who watches is told why, if there is a reason. */
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
        // One that waits for a user is not over, whatever becomes of its process.
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
    if (error !== undefined) this.#tell("broken", wordsOf(error), error);
    else if (this.#reason) this.#tell(this.#reason, "This conversation was removed.");
    for (const subscription of this.#subscriptions.keys()) subscription.end();
    this.#subscriptions.clear();
    this.#events.ended();
  }

  #tell(reason: "removed" | "broken", message: string, cause?: unknown): void {
    this.#broadcast.flush();
    const frame = new Frame({ type: "ended", conversation: this.session.id, reason, message }, { cause });
    for (const [subscription, line] of this.#subscriptions) {
      subscription.end();
      line.send(frame);
    }
    this.#subscriptions.clear();
  }

  /** One client cannot be told what it missed; the others have it. */
  #tellBroken(subscription: Subscription, line: Line, error: unknown): void {
    this.unsubscribe(subscription);
    const message = `The messages since then cannot be read: ${wordsOf(error)}`;
    line.send(new Frame({ type: "ended", conversation: this.session.id, reason: "broken", message }, { cause: error }));
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

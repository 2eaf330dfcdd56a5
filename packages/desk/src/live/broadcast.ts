import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { type Cursor, cursorOf, type FeedItem, isDelta, type Session, SessionError } from "@banyan/core";
import { mergeDeltas } from "@banyan/core/hosts";
import { KeptOutline } from "@banyan/protocol/values";
import { ClientFrame, type FeedViewer, itemForViewer } from "./frame.ts";

/** Milliseconds between two frames of one conversation. */
const FRAME = 16;

/** A client that gets the frames of a broadcast. */
export interface Receiver {
  readonly viewer: FeedViewer;
  /** Clients with equal rights share the frame. `at`: the feed position after the frame. */
  send(frame: ClientFrame, at: Cursor): void;
  /** True if too much unsent data waits for this client. The broadcast then drops the client. */
  readonly isFull: boolean;
  /** The broadcast dropped this full client at position `at`. The client must join again. */
  left(at: Cursor): void;
}

/**
 * Sends a session's feed to its clients. The first item after a pause is sent at once. Later items are sent at most
 * every 16 ms, with merged text deltas. Clients share each frame. If a client is too slow, the broadcast drops it, and
 * the client must catch up itself.
 */
export class Broadcast {
  readonly #session: Session;
  readonly #receivers = new Set<Receiver>();
  /** Pending retries of model calls. They are kept here because the session's state does not contain them. */
  readonly #retries = new Map<string, Extract<FeedItem, { type: "model.retrying" }>>();
  readonly #outline = new KeptOutline();
  #latest: Cursor;
  #pending: FeedItem[] = [];
  #flushed = 0;
  #end: { readonly error: Error } | undefined;
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;

  constructor(session: Session) {
    this.#session = session;
    this.#latest = session.cursor;
    session.listen({
      items: (items) => this.#hear(items),
      ended: (error) => {
        this.#end = {
          error: error instanceof Error ? error : new SessionError("closed", "The conversation was just closed."),
        };
        this.flush();
      },
    });
  }

  /** The position after the last item of the feed. */
  get latest(): Cursor {
    return this.#latest;
  }

  /** The outline for snapshots of the session's state, as it is now. */
  get outline(): KeptOutline {
    // A slow store delays the items that report changes of messages.
    return isSameCursor(this.#session.cursor, this.#latest) ? this.#outline : new KeptOutline();
  }

  /** Resolves when the session's state matches the feed, which a slow store delays. Rejects after its end. */
  async settled(): Promise<void> {
    while (!this.#end && this.#session.cursor.seq !== this.#latest.seq) await turnOfTheLoop();
    if (this.#end) throw this.#end.error;
  }

  /** Sends later frames to a receiver that has everything up to `latest`, and current model retries (W49). */
  join(receiver: Receiver): void {
    this.flush();
    this.#receivers.add(receiver);
    const retries = [...this.#retries.values()].filter(({ nextAt }) => nextAt > Date.now());
    const shown = retries.flatMap((item) => itemForViewer(item, receiver.viewer) ?? []);
    if (shown.length > 0 && !receiver.isFull) receiver.send(ClientFrame.ofFeed(this.#session.id, shown), this.#latest);
  }

  leave(receiver: Receiver): void {
    this.#receivers.delete(receiver);
  }

  has(receiver: Receiver): boolean {
    return this.#receivers.has(receiver);
  }

  /** Sends pending items now, so that every receiver has everything up to `latest`. */
  flush(): void {
    if (this.#timer) {
      clearTimeout(this.#timer as NodeJS.Timeout);
      clearImmediate(this.#timer as NodeJS.Immediate);
      this.#timer = undefined;
    }
    if (this.#pending.length === 0) return;
    const items = this.#pending;
    const whole = ClientFrame.ofFeed(this.#session.id, items);
    const frameFor = (viewer: FeedViewer) => {
      const shown = items.map((item) => itemForViewer(item, viewer));
      if (shown.every((item, index) => item === items[index])) return whole;
      return ClientFrame.ofFeed(
        this.#session.id,
        shown.filter((item) => item !== undefined),
      );
    };
    this.#pending = [];
    this.#flushed = performance.now();
    for (const receiver of this.#receivers) {
      receiver.send(frameFor(receiver.viewer), this.#latest);
      if (!receiver.isFull) continue;
      this.#receivers.delete(receiver);
      receiver.left(this.#latest);
    }
  }

  #hear(items: readonly FeedItem[]): void {
    for (const item of items) {
      this.#latest = cursorOf(item) ?? this.#latest;
      if ("message" in item && typeof item.message === "string") this.#outline.changed(item.message);
      if (item.type === "model.retrying") this.#retries.set(item.run, item);
      else if (item.type === "message.started" || item.type === "run.ended") this.#retries.delete(item.run);
      if (this.#receivers.size > 0) this.#add(item);
    }
    if (this.#pending.length === 0 || this.#timer) return;
    const wait = this.#flushed + FRAME - performance.now();
    // Send after the tick: the frame then holds all items of the tick, and the run does not wait for sockets.
    this.#timer = wait <= 0 ? setImmediate(() => this.flush()) : setTimeout(() => this.flush(), wait);
  }

  #add(item: FeedItem): void {
    const last = this.#pending.at(-1);
    const merged = last && isDelta(last) && isDelta(item) ? mergeDeltas(last, item) : undefined;
    if (merged) this.#pending[this.#pending.length - 1] = merged;
    else this.#pending.push(item);
  }
}

export function isSameCursor(one: Cursor, other: Cursor): boolean {
  return one.epoch === other.epoch && one.seq === other.seq && one.offset === other.offset;
}

import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { type Cursor, cursorOf, type FeedItem, isDelta, type Session, SessionError } from "@banyan/core";
import { mergeDeltas } from "@banyan/core/hosts";
import { Frame, shownTo, type Viewer } from "./frame.ts";

/** Milliseconds between two frames of one conversation. */
const FRAME = 16;

/** One client of a broadcast. */
export interface Receiver {
  readonly viewer: Viewer;
  /** Sends a frame, the same to all who may see all of it; whoever has it is at this place. */
  send(frame: Frame, at: Cursor): void;
  /** Whether so much waits to be sent that it must get no more for now. */
  readonly isFull: boolean;
  /** It was full: it has everything up to this place, and gets no more until it joins again. */
  left(at: Cursor): void;
}

/**
 * Passes the feed of a session on to its clients: the first item after a pause at once, and then at most a frame every 16
 * ms, with deltas of one text as one. A frame is built once for all clients. Nobody waits for a client: one that is full
 * leaves, and catches up by itself.
 */
export class Broadcast {
  readonly #session: Session;
  readonly #receivers = new Set<Receiver>();
  /** Of each run whose model is asked again, why and when: nobody learns that from the state. */
  readonly #retries = new Map<string, Extract<FeedItem, { type: "model.retrying" }>>();
  #latest: Cursor;
  #pending: FeedItem[] = [];
  #flushed = 0;
  /** Why the session has ended, once it has. */
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

  /** The place behind the last item of the feed. */
  get latest(): Cursor {
    return this.#latest;
  }

  /**
   * Resolves when the state of the session says what its feed has said, and no more: with a store that takes its time. Rejects
   * when the session has ended: a store that failed never gets there, and nobody is told anything any more.
   */
  async settled(): Promise<void> {
    while (!this.#end && this.#session.cursor.seq !== this.#latest.seq) await turnOfTheLoop();
    if (this.#end) throw this.#end.error;
  }

  /** From now on the receiver gets every frame; it has everything up to `latest`. What is waited for is told to it, too (W49). */
  join(receiver: Receiver): void {
    this.flush();
    this.#receivers.add(receiver);
    const retries = [...this.#retries.values()].filter(({ nextAt }) => nextAt > Date.now());
    const shown = retries.flatMap((item) => shownTo(item, receiver.viewer) ?? []);
    if (shown.length > 0 && !receiver.isFull) receiver.send(Frame.ofFeed(this.#session.id, shown), this.#latest);
  }

  leave(receiver: Receiver): void {
    this.#receivers.delete(receiver);
  }

  has(receiver: Receiver): boolean {
    return this.#receivers.has(receiver);
  }

  /** Sends what waits for the next frame now: afterwards every receiver has everything up to `latest`. */
  flush(): void {
    if (this.#timer) {
      clearTimeout(this.#timer as NodeJS.Timeout);
      clearImmediate(this.#timer as NodeJS.Immediate);
      this.#timer = undefined;
    }
    if (this.#pending.length === 0) return;
    const items = this.#pending;
    const whole = Frame.ofFeed(this.#session.id, items);
    const frameFor = (viewer: Viewer) => {
      const shown = items.map((item) => shownTo(item, viewer));
      if (shown.every((item, index) => item === items[index])) return whole;
      return Frame.ofFeed(
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
      if (item.type === "model.retrying") this.#retries.set(item.run, item);
      else if (item.type === "message.started" || item.type === "run.ended") this.#retries.delete(item.run);
      if (this.#receivers.size > 0) this.#add(item);
    }
    if (this.#pending.length === 0 || this.#timer) return;
    const wait = this.#flushed + FRAME - performance.now();
    // It is sent after the tick, so that all that the tick brings goes along, and the run does not wait for sockets.
    this.#timer = wait <= 0 ? setImmediate(() => this.flush()) : setTimeout(() => this.flush(), wait);
  }

  #add(item: FeedItem): void {
    const last = this.#pending.at(-1);
    const merged = last && isDelta(last) && isDelta(item) ? mergeDeltas(last, item) : undefined;
    if (merged) this.#pending[this.#pending.length - 1] = merged;
    else this.#pending.push(item);
  }
}

import { type Cursor, cursorOf, type FeedItem, isDelta, type Session, SessionError } from "@banyan/core";
import type { NarrowedRule } from "@banyan/protocol";
import { snapshotOf } from "@banyan/protocol/values";
import type { Broadcast, Receiver } from "./broadcast.ts";
import { Frame, shownTo, type Viewer } from "./frame.ts";
import { stateOnly } from "./shown-only.ts";

/** UTF-16 units of JSON that one frame of what was missed holds, or one item more. */
const FRAME_SIZE = 128 * 1024;

/** The connection of a client: a socket, or a stream of server-sent events. */
export interface Line {
  /** Whose it is. */
  readonly viewer: Viewer;
  /** Tells of a conversation by showing it where it is, for a client of this process; absent where a snapshot is needed. */
  share?(session: Session): void;
  /** Sends a frame; whoever has it is at this place of the feed, if it is one of a feed. */
  send(frame: Frame, at?: Cursor): void;
  /** Whether so much waits to be sent that it must get no more for now. */
  readonly isFull: boolean;
  /** Resolves when there is room again, or the connection is gone. */
  room(): Promise<void>;
}

/** What a client begins with whose cursor is of another writer. */
interface Anew {
  /** Of that writer. */
  readonly epoch: number;
  begin(): void;
}

/**
 * One client's way through the feed of one conversation. What a client has is always a beginning of the feed, without a
 * gap and without a repeat.
 *
 * ```
 * snapshot ───────────────────▶ in step ◀──────────╮   (a cursor of another writer: catching up with text only,
 * cursor ──▶ catching up ──────────╯ │             │    then a snapshot)
 *                 ▲                  ▼ full        │
 *                 ╰── room again ◀───╯   (what waits for a client is bounded; the log has the rest)
 * ```
 */
export class Subscription implements Receiver {
  readonly #session: Session;
  readonly #broadcast: Broadcast;
  readonly #line: Line;
  readonly #failed: (error: unknown) => void;
  readonly #narrowed: () => readonly NarrowedRule[];
  #over = false;
  #stepping = Promise.withResolvers<void>();

  /**
   * `failed` hears why the client gets no more, if it is not the session that ended. Must not throw. `narrowed` returns the rules
   * of the conversation that allow less than when the user allowed them.
   */
  constructor(
    session: Session,
    broadcast: Broadcast,
    line: Line,
    failed: (error: unknown) => void,
    narrowed: () => readonly NarrowedRule[] = () => [],
  ) {
    this.#session = session;
    this.#broadcast = broadcast;
    this.#line = line;
    this.#failed = failed;
    this.#narrowed = narrowed;
  }

  /**
   * Begins with a snapshot, or behind a cursor of this writer. Behind that of another writer comes what was said since, as
   * deltas, and then a snapshot (W81). Resolves when the snapshot is sent, if there is to be one. Who has a link always begins with
   * one: the log holds what it does not show (S29).
   */
  async begin(cursor: Cursor | undefined, leaf: string | undefined): Promise<void> {
    const { latest } = this.#broadcast;
    const { only } = this.viewer;
    const from = only ? undefined : cursor;
    if (from && (from.seq === 0 || (from.epoch === latest.epoch && !isBefore(latest, from)))) {
      this.#catchUpAlone(from);
      return;
    }
    const beginAnew = () => {
      const { state, cursor, interrupted, damage } = this.#session;
      if (only) this.#line.send(new Frame(snapshotOf(stateOnly(state, only), { cursor, leaf })), cursor);
      else if (this.#line.share) this.#line.share(this.#session);
      else {
        const narrowed = this.#narrowed();
        this.#line.send(new Frame(snapshotOf(state, { cursor, leaf, interrupted, damage, narrowed })), cursor);
      }
      this.#join();
    };
    if (from && from.epoch !== latest.epoch) await this.#catchUp(from, { epoch: from.epoch, begin: beginAnew });
    else beginAnew();
  }

  /** Whether the client has everything but for what waits for the next frame. */
  get isInStep(): boolean {
    return this.#broadcast.has(this);
  }

  /** Resolves when the client has come into step, or its subscription is over. */
  inStep(): Promise<void> {
    return this.isInStep || this.#over ? Promise.resolve() : this.#stepping.promise;
  }

  /** The client gets no more. */
  end(): void {
    this.#over = true;
    this.#broadcast.leave(this);
    this.#stepping.resolve();
  }

  send(frame: Frame, at: Cursor): void {
    this.#line.send(frame, at);
  }

  get viewer(): Viewer {
    return this.#line.viewer;
  }

  get isFull(): boolean {
    return this.#line.isFull;
  }

  left(at: Cursor): void {
    this.#stepping = Promise.withResolvers();
    this.#catchUpAlone(at);
  }

  /** Where nobody waits for it, the client is told that it gets no more. */
  #catchUpAlone(from: Cursor): void {
    this.#catchUp(from).catch((error: unknown) => this.#failed(error));
  }

  #join(): void {
    this.#broadcast.join(this);
    this.#stepping.resolve();
  }

  /**
   * Sends what came after a cursor, with pauses while the connection is full, and joins the others. With `anew`: only
   * text, and then that, which tells the rest. Rejects when the log cannot be read.
   */
  async #catchUp(from: Cursor, anew?: Anew): Promise<void> {
    for (let at: Cursor | undefined = from; at && !this.#over; ) {
      if (this.#line.isFull) await this.#line.room();
      at = await this.#readOn(at, anew);
    }
  }

  /** Sends what came after a cursor until the connection is full: returns where that was. Nothing when there is no more to do. */
  async #readOn(from: Cursor, anew?: Anew): Promise<Cursor | undefined> {
    if (this.#over) return undefined;
    const join = anew?.begin ?? (() => this.#join());
    if (isSame(from, this.#broadcast.latest)) {
      join();
      return undefined;
    }
    // Until the snapshot has come, a client that breaks off again must not seem to know of this writer's events.
    const mark = anew && { epoch: anew.epoch };
    let at = from;
    let hasBegun = from.epoch === this.#broadcast.latest.epoch || from.seq === 0;
    let items: FeedItem[] = [];
    let texts: string[] = [];
    let size = 0;
    const send = () => {
      if (items.length > 0 && !this.#over)
        this.#line.send(Frame.ofFeed(this.#session.id, items, texts), { ...at, ...mark });
      items = [];
      texts = [];
      size = 0;
    };
    try {
      for await (const item of this.#session.feed({ from })) {
        at = placeOf(item) ?? at;
        if (item.type === "feed.reset") hasBegun = true;
        // Who begins at the beginning has nothing that could be reset, and who begins anew learns it from the snapshot.
        const shown = (anew ? isDelta(item) : item.type !== "feed.reset") && shownTo(item, this.viewer);
        if (shown) {
          const told = { ...shown, ...mark };
          const text = JSON.stringify(told);
          items.push(told);
          texts.push(text);
          size += text.length;
        }
        if (this.#over) return undefined;
        // Between here and `join` nothing happens: what this client has is what the others have, or wait for.
        if (hasBegun && !isBefore(at, this.#broadcast.latest)) {
          send();
          join();
          return undefined;
        }
        if (size < FRAME_SIZE) continue;
        send();
        if (this.#line.isFull) return at;
      }
      // The session has ended; whoever ended it tells the client.
      return undefined;
    } catch (error) {
      send();
      // A log that cannot be read breaks no session: nobody else would say so.
      if (!(error instanceof SessionError)) throw error;
      // Whoever was too slow for a reader goes on from there. A session that broke tells the client itself.
      return error.code === "behind" ? at : undefined;
    }
  }
}

function placeOf(item: FeedItem): Cursor | undefined {
  return item.type === "feed.reset" ? { epoch: item.epoch, seq: item.seq, offset: 0 } : cursorOf(item);
}

function isSame(one: Cursor, other: Cursor): boolean {
  return one.epoch === other.epoch && one.seq === other.seq && one.offset === other.offset;
}

function isBefore(one: Cursor, other: Cursor): boolean {
  return one.seq === other.seq ? one.offset < other.offset : one.seq < other.seq;
}

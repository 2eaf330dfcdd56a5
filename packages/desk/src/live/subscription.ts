import { type Cursor, cursorOf, type FeedItem, isDelta, type Session, SessionError } from "@banyan/core";
import type { NarrowedRule } from "@banyan/protocol";
import { snapshotOf } from "@banyan/protocol/values";
import { type Broadcast, isSameCursor, type Receiver } from "./broadcast.ts";
import { ClientFrame, type FeedViewer, itemForViewer } from "./frame.ts";
import { stateInShare } from "./shown-only.ts";

/** Maximum UTF-16 units of JSON in a frame of missed items. A single larger item is still sent. */
const FRAME_SIZE = 128 * 1024;

/** The connection to a client: a socket, a stream of server-sent events, or a link in this process. */
export interface ClientConnection {
  readonly viewer: FeedViewer;
  /** Hands over the session to a client in this process; absent for clients that need a snapshot. */
  share?(session: Session): void;
  /** `at`: the position after a frame of the feed. */
  send(frame: ClientFrame, at?: Cursor): void;
  /** True if too much unsent data waits: the subscription then sends no more. */
  readonly isFull: boolean;
  /** Resolves when the connection has room, or is gone. */
  room(): Promise<void>;
}

/** A cursor of an earlier writer. */
interface ForeignCursor {
  readonly epoch: number;
  begin(): void;
}

/**
 * A client's position in the feed of a conversation. The client always has the feed up to its position, without gaps
 * and repeats. A client whose cursor is from another writer catches up with text only, and then gets a snapshot.
 * ```
 * snapshot ───────────────────▶ in step ◀──────────╮
 * cursor ──▶ catching up ──────────╯ │             │
 *                 ▲                  ▼ full        │
 *                 ╰── room again ◀───╯
 * ```
 */
export class Subscription implements Receiver {
  readonly #session: Session;
  readonly #broadcast: Broadcast;
  readonly #line: ClientConnection;
  readonly #failed: (error: unknown) => void;
  readonly #narrowed: () => readonly NarrowedRule[];
  #over = false;
  #stepping = Promise.withResolvers<void>();

  /** `failed` receives an error that ends the subscription, and must not throw. `narrowed`: see `LiveEvents`. */
  constructor(
    session: Session,
    broadcast: Broadcast,
    line: ClientConnection,
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
   * Begins with a snapshot, or after a cursor of this writer. A cursor of an earlier writer first gets the later text,
   * then a snapshot (W81). A guest with a link always begins with a snapshot: the log contains more than the link shows
   * (S29).
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
      if (only) this.#line.send(new ClientFrame(snapshotOf(stateInShare(state, only), { cursor, leaf })), cursor);
      else if (this.#line.share) this.#line.share(this.#session);
      else {
        const of = { cursor, leaf, interrupted, damage, narrowed: this.#narrowed() };
        this.#line.send(ClientFrame.ofSnapshot(state, of, this.#broadcast.outline), cursor);
      }
      this.#join();
    };
    if (from && from.epoch !== latest.epoch) await this.#catchUp(from, { epoch: from.epoch, begin: beginAnew });
    else beginAnew();
  }

  /** True if the client has everything except the next frame. */
  get isInStep(): boolean {
    return this.#broadcast.has(this);
  }

  /** Resolves when the client is in step, or its subscription has ended. */
  inStep(): Promise<void> {
    return this.isInStep || this.#over ? Promise.resolve() : this.#stepping.promise;
  }

  end(): void {
    this.#over = true;
    this.#broadcast.leave(this);
    this.#stepping.resolve();
  }

  send(frame: ClientFrame, at: Cursor): void {
    this.#line.send(frame, at);
  }

  get viewer(): FeedViewer {
    return this.#line.viewer;
  }

  get isFull(): boolean {
    return this.#line.isFull;
  }

  left(at: Cursor): void {
    this.#stepping = Promise.withResolvers();
    this.#catchUpAlone(at);
  }

  /** `failed` receives an error. */
  #catchUpAlone(from: Cursor): void {
    this.#catchUp(from).catch((error: unknown) => this.#failed(error));
  }

  #join(): void {
    this.#broadcast.join(this);
    this.#stepping.resolve();
  }

  /**
   * Sends everything after a cursor, pauses while the connection is full, and then joins the broadcast. With `anew`,
   * sends only text, then a snapshot. Rejects if the log cannot be read.
   */
  async #catchUp(from: Cursor, anew?: ForeignCursor): Promise<void> {
    for (let at: Cursor | undefined = from; at && !this.#over; ) {
      if (this.#line.isFull) await this.#line.room();
      at = await this.#readOn(at, anew);
    }
  }

  /** Returns the position where the connection became full, or `undefined` at the end. */
  async #readOn(from: Cursor, anew?: ForeignCursor): Promise<Cursor | undefined> {
    if (this.#over) return undefined;
    const join = anew?.begin ?? (() => this.#join());
    if (isSameCursor(from, this.#broadcast.latest)) {
      join();
      return undefined;
    }
    // Until the snapshot arrives, a client that disconnects must not seem to know events of this writer.
    const mark = anew && { epoch: anew.epoch };
    let at = from;
    let hasBegun = from.epoch === this.#broadcast.latest.epoch || from.seq === 0;
    let items: FeedItem[] = [];
    let texts: string[] = [];
    let size = 0;
    const send = () => {
      if (items.length > 0 && !this.#over)
        this.#line.send(ClientFrame.ofFeed(this.#session.id, items, texts), { ...at, ...mark });
      items = [];
      texts = [];
      size = 0;
    };
    try {
      for await (const item of this.#session.feed({ from })) {
        at = cursorOfItem(item) ?? at;
        if (item.type === "feed.reset") hasBegun = true;
        // A client at the start of the feed has nothing to reset; a client that gets a snapshot learns of the reset
        // from it.
        const shown = (anew ? isDelta(item) : item.type !== "feed.reset") && itemForViewer(item, this.viewer);
        if (shown) {
          const told = { ...shown, ...mark };
          const text = JSON.stringify(told);
          items.push(told);
          texts.push(text);
          size += text.length;
        }
        if (this.#over) return undefined;
        // No `await` may come between this check and `join`: the client then has what the others have or wait for.
        if (hasBegun && !isBefore(at, this.#broadcast.latest)) {
          send();
          join();
          return undefined;
        }
        if (size < FRAME_SIZE) continue;
        send();
        if (this.#line.isFull) return at;
      }
      // The session has ended: the code that ended it informs the client.
      return undefined;
    } catch (error) {
      send();
      // An unreadable log does not end the session, so only this throw reports it.
      if (!(error instanceof SessionError)) throw error;
      // A client too slow for its reader continues from `at`. A session that failed informs the client itself.
      return error.code === "behind" ? at : undefined;
    }
  }
}

function cursorOfItem(item: FeedItem): Cursor | undefined {
  return item.type === "feed.reset" ? { epoch: item.epoch, seq: item.seq, offset: 0 } : cursorOf(item);
}

function isBefore(one: Cursor, other: Cursor): boolean {
  return one.seq === other.seq ? one.offset < other.offset : one.seq < other.seq;
}

import { mergeDeltas } from "../conversation/deltas.ts";
import { type FeedItem, isDelta } from "../conversation/feed-item.ts";
import { SessionError } from "./error.ts";

/** Unread items from which on neighbouring deltas are merged. */
const MERGE_FROM = 256;
/** Unread text, in UTF-16 units, from which on a reader is full, and down to which it must come to have room again. */
const FULL_AT = 256 * 1024;
const ROOM_AT = FULL_AT / 4;

/** What a watcher may leave unread: items, and UTF-16 units of text. */
const WATCHER_ITEMS = 10_000;
const WATCHER_TEXT = 4 * 1024 * 1024;

/** Hands the next item to whoever waits for it. */
type Waiting = (next: IteratorResult<FeedItem> | Promise<never>) => void;

/**
 * One consumer's view of a feed: an async iterable over what has queued up. A consumer that falls behind gets deltas
 * merged; its `full` tells the producer to wait.
 *
 * Somebody has to give way when a reader is slower than the model. The reader of a chat may hold the model back: it asked
 * for the answer. One that only watches and sleeps may not, or it would stop the agent of somebody else; nor may what waits
 * for it grow. It is ended (`behind`), and goes on from its cursor when it wakes: the log has what it missed (B58).
 */
export class FeedReader implements AsyncIterableIterator<FeedItem> {
  readonly #onLeave: (() => void | Promise<void>) | undefined;
  readonly #bounded: boolean;
  #items: FeedItem[] = [];
  #head = 0;
  #unread = 0;
  #ended = false;
  #error: unknown;
  /** Who waits for the next item. */
  #waiting: Waiting | undefined;
  /** Who waits for those after it, in the order in which they asked: hardly ever anybody. */
  readonly #queue: Waiting[] = [];
  /** Live items that wait until history has been replayed. */
  #held: FeedItem[] | undefined;
  readonly #room: (() => void)[] = [];

  /**
   * `onLeave` runs when the consumer leaves early, and is awaited by its `return()`. A `bounded` reader that falls far
   * behind is ended: nobody waits for it, and it must not grow.
   */
  constructor(onLeave?: () => void | Promise<void>, bounded = false) {
    this.#onLeave = onLeave;
    this.#bounded = bounded;
  }

  push(item: FeedItem): void {
    if (this.#held) this.#held.push(item);
    else this.#add(item);
    if (this.#bounded && this.#isBehind()) this.#giveUp();
  }

  #isBehind(): boolean {
    const waiting = this.#items.length - this.#head + (this.#held?.length ?? 0);
    return waiting > WATCHER_ITEMS || this.#unread > WATCHER_TEXT;
  }

  /** What is unread goes: the consumer asks for it again, from its cursor. */
  #giveUp(): void {
    this.#items = [];
    this.#head = 0;
    this.#unread = 0;
    this.#held = undefined;
    this.end(
      new SessionError("behind", "This reader fell too far behind; go on with session.feed({ from: its cursor })."),
    );
    // The consumer hears that it is behind, which is all that it can be told.
    this.#onLeave?.()?.catch(() => {});
  }

  /** From here on what is pushed waits, until `release`; `replay` goes first. */
  hold(): void {
    this.#held = [];
  }

  replay(item: FeedItem): void {
    this.#add(item);
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const item of held) this.#add(item);
  }

  get ended(): boolean {
    return this.#ended;
  }

  #add(item: FeedItem): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    if (waiting) {
      this.#waiting = this.#queue.length > 0 ? this.#queue.shift() : undefined;
      waiting({ value: item, done: false });
      return;
    }
    if (isDelta(item)) {
      this.#unread += item.text.length;
      if (this.#items.length - this.#head > MERGE_FROM) {
        const last = this.#items.at(-1);
        const merged = last && isDelta(last) ? mergeDeltas(last, item) : undefined;
        if (merged) {
          this.#items[this.#items.length - 1] = merged;
          return;
        }
      }
    }
    this.#items.push(item);
  }

  /** No more items come. With an error, the consumer gets it after what is still unread. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#makeRoom();
    if (this.#waiting) this.#finish(this.#waiting);
    for (const waiting of this.#queue.splice(0)) this.#finish(waiting);
    this.#waiting = undefined;
  }

  get full(): boolean {
    return this.#unread > FULL_AT;
  }

  /** Resolves when the consumer has read what there is, or is gone. */
  async drained(): Promise<void> {
    while (this.#head < this.#items.length && !this.#ended)
      await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  /** Resolves when the consumer has caught up, or is gone. */
  room(): Promise<void> {
    return this.full && !this.#ended ? new Promise((resolve) => this.#room.push(resolve)) : Promise.resolve();
  }

  next(): Promise<IteratorResult<FeedItem>> {
    if (this.#head < this.#items.length) {
      const item = this.#items[this.#head] as FeedItem;
      this.#head++;
      if (this.#head === this.#items.length) {
        this.#items = [];
        this.#head = 0;
      } else if (this.#head === 1024) {
        this.#items = this.#items.slice(this.#head);
        this.#head = 0;
      }
      if (isDelta(item)) {
        this.#unread -= item.text.length;
        if (this.#room.length > 0 && this.#unread < ROOM_AT) this.#makeRoom();
      }
      return Promise.resolve({ value: item, done: false });
    }
    if (this.#room.length > 0) this.#makeRoom();
    return new Promise((resolve) => {
      if (this.#ended) this.#finish(resolve);
      else if (this.#waiting) this.#queue.push(resolve);
      else this.#waiting = resolve;
    });
  }

  async return(): Promise<IteratorResult<FeedItem>> {
    this.#items = [];
    this.#head = 0;
    this.#unread = 0;
    this.#held = undefined;
    this.end();
    await this.#onLeave?.();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** The error is told once; after it the feed is at its end. */
  #finish(waiting: Waiting): void {
    const error = this.#error;
    this.#error = undefined;
    waiting(error === undefined ? { value: undefined, done: true } : Promise.reject(error));
  }

  #makeRoom(): void {
    for (const resolve of this.#room.splice(0)) resolve();
  }
}

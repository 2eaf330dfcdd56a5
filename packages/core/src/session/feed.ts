import { mergeDeltas } from "../conversation/deltas.ts";
import { type FeedItem, isDelta } from "../conversation/feed-item.ts";
import { SessionError } from "./error.ts";

/** Neighbouring deltas are merged above this number of unread items. */
const MERGE_FROM = 256;
/** A reader is full above this much unread text (UTF-16 units), and has room again below `ROOM_AT`. */
const FULL_AT = 256 * 1024;
const ROOM_AT = FULL_AT / 4;

/** Unread items, and UTF-16 units of unread text, at which a watcher is ended. */
const WATCHER_ITEMS = 10_000;
const WATCHER_TEXT = 4 * 1024 * 1024;

type WaitingReader = (next: IteratorResult<FeedItem> | Promise<never>) => void;

/**
 * One consumer's view of a feed. If the consumer falls behind, deltas are merged, and `full` asks the producer to wait.
 * Only the reader of a chat can slow the model down. For any other slow consumer, the feed ends (`behind`). It can
 * continue from its cursor, because the log has the missed items (B58).
 */
export class FeedReader implements AsyncIterableIterator<FeedItem> {
  readonly #onLeave: (() => void | Promise<void>) | undefined;
  readonly #bounded: boolean;
  #items: FeedItem[] = [];
  #head = 0;
  #unread = 0;
  #ended = false;
  #error: unknown;
  #waiting: WaitingReader | undefined;
  /** Further consumers that wait, in the order of their requests. Nearly always empty. */
  readonly #queue: WaitingReader[] = [];
  /** Live items that wait until the history has been replayed. */
  #held: FeedItem[] | undefined;
  readonly #room: (() => void)[] = [];

  /** `return()` awaits `onLeave`. A `bounded` reader is ended when it falls far behind: no producer waits for it. */
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

  /** Drops the unread items: the consumer fetches them again from its cursor. */
  #giveUp(): void {
    this.#items = [];
    this.#head = 0;
    this.#unread = 0;
    this.#held = undefined;
    this.end(
      new SessionError("behind", "This reader fell too far behind. Continue with session.feed({ from: cursor })."),
    );
    // The consumer already gets the error `behind`, so a failure of `onLeave` has no other receiver.
    this.#onLeave?.()?.catch(() => {});
  }

  /** Holds pushed items back until `release`; items of `replay` go first. */
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

  /** No more items come. The consumer gets the error after the unread items. */
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

  /** Resolves when the consumer has read all items, or has left. */
  async drained(): Promise<void> {
    while (this.#head < this.#items.length && !this.#ended)
      await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  /** Resolves when the consumer has caught up, or has left. */
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

  /** Reports the error once; after that the feed is at its end. */
  #finish(waiting: WaitingReader): void {
    const error = this.#error;
    this.#error = undefined;
    waiting(error === undefined ? { value: undefined, done: true } : Promise.reject(error));
  }

  #makeRoom(): void {
    for (const resolve of this.#room.splice(0)) resolve();
  }
}

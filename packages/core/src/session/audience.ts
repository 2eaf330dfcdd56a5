import type { FeedItem } from "../conversation/feed-item.ts";
import { FeedReader } from "./feed.ts";

/** Takes a feed as it is shown: for whoever passes it on to many. */
export interface FeedListener {
  /** What was shown together, in order. Must not throw, and must not keep the list. */
  items(items: readonly FeedItem[]): void;
  /** The session has ended, with an error if it broke; no more items come. */
  ended(error?: unknown): void;
}

interface Joined {
  readonly reader: FeedReader;
  /** Whose items it wants; everybody's when that is not said. */
  readonly origin: object | undefined;
}

/** The readers of a session's feed: each gets each item once, in the order in which they are published. */
export class Audience {
  readonly #listeners = new Set<FeedListener>();
  /** Replaced whenever one comes or goes, which may be in the middle of a publication. */
  #readers: readonly Joined[] = [];
  /** The last of the publications that wait for something to be written. */
  #publishing: Promise<void> | undefined;

  /** A reader that has not joined yet. Leaving early it is dismissed. */
  reader(options: { readonly bounded: boolean; onLeave?(): void | Promise<void> }): FeedReader {
    const reader = new FeedReader(() => {
      this.#leave(reader);
      return options.onLeave?.();
    }, options.bounded);
    return reader;
  }

  /** From now on the reader gets what is published with `origin`, or everything. */
  join(reader: FeedReader, origin: object | undefined): void {
    this.#readers = [...this.#readers, { reader, origin }];
  }

  dismiss(reader: FeedReader, error?: unknown): void {
    this.#leave(reader);
    reader.end(error);
  }

  #leave(reader: FeedReader): void {
    this.#readers = this.#readers.filter((joined) => joined.reader !== reader);
  }

  /** From now on the listener hears everything, at once; until the function that comes back is called. */
  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  dismissAll(error?: unknown): void {
    for (const listener of this.#listeners) listener.ended(error);
    this.#listeners.clear();
    for (const { reader } of this.#readers) this.dismiss(reader, error);
  }

  /**
   * Shows items, after those published before and once `written` has resolved; if it rejects they are never shown, nor
   * is anything after them.
   */
  publish(items: readonly FeedItem[], origin: object | undefined): void;
  publish(
    items: readonly FeedItem[],
    origin: object | undefined,
    written: Promise<void> | undefined,
  ): void | Promise<void>;
  publish(items: readonly FeedItem[], origin: object | undefined, written?: Promise<void>): void | Promise<void> {
    if (!written && !this.#publishing) return this.#show(items, origin);
    const published = Promise.all([this.#publishing, written]).then(() => this.#show(items, origin));
    this.#publishing = published;
    const done = () => {
      if (this.#publishing === published) this.#publishing = undefined;
    };
    published.then(done, done);
    return written ? published : undefined;
  }

  /** Whether something published has not been shown yet. */
  get isBehind(): boolean {
    return this.#publishing !== undefined;
  }

  /** Resolves when everything published so far has been shown. */
  async upToDate(): Promise<void> {
    while (this.#publishing) await this.#publishing;
  }

  #show(items: readonly FeedItem[], origin: object | undefined): void {
    // Most often there are none, and what comes with each read of a response makes no iterator for them.
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener.items(items);
    for (const joined of this.#readers) {
      if (joined.origin === undefined || joined.origin === origin) for (const item of items) joined.reader.push(item);
    }
  }
}

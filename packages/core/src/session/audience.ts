import type { FeedItem, Notice } from "../conversation/feed-item.ts";
import { checkArguments, OptionError } from "../conversation/option-names.ts";
import type { SessionError } from "./error.ts";
import { FeedReader } from "./feed.ts";

/** Receives the items of a feed and sends them to many readers. See {@link Session}. */
export interface FeedListener {
  /** Receives items that were published together, in order. Must not throw, and must not keep the list. */
  items(items: readonly FeedItem[]): void;
  /** The session has ended, with an error if it broke. No more items come. */
  ended(error?: unknown): void;
}

interface AudienceMember {
  readonly reader: FeedReader;
  /** The reader gets only items of this origin. Absent: all items. */
  readonly origin: object | undefined;
}

/** The readers of a session's feed. Each reader gets each item once, in the order of publication. */
export class Audience {
  readonly #listeners = new Set<FeedListener>();
  /** A new list replaces this list when a reader comes or goes, which may happen during a publication. */
  #readers: readonly AudienceMember[] = [];
  #publishing: Promise<void> | undefined;

  /** Returns a reader that has not joined yet. A reader that leaves early is dismissed. */
  reader(options: { readonly bounded: boolean; onLeave?(): void | Promise<void> }): FeedReader {
    const reader = new FeedReader(() => {
      this.#leave(reader);
      return options.onLeave?.();
    }, options.bounded);
    return reader;
  }

  /** The reader gets all items from now on, or only those published with `origin`. */
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

  /** The listener gets every item in the same tick, until the returned function is called. A `broken` session only ends. */
  listen(listener: FeedListener, broken?: SessionError): () => void {
    checkArguments("session.listen", { listener }, { listener: "object" });
    const { items, ended } = listener;
    checkArguments("session.listen", { items, ended }, { items: "function", ended: "function" });
    if (broken) {
      listener.ended(broken.code === "closed" ? undefined : broken);
      return () => {};
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  dismissAll(error?: unknown): void {
    for (const listener of this.#listeners) listener.ended(error);
    this.#listeners.clear();
    for (const { reader } of this.#readers) this.dismiss(reader, error);
  }

  notify(notice: Notice, origin: object | undefined): void {
    if (typeof notice?.type !== "string")
      throw new OptionError('notice of session.notify must be an object with a type, such as "turn.waiting".');
    this.publish([notice], origin);
  }

  /** Shows items after all earlier publications and after `written`. If `written` rejects, no later item is shown. */
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

  get isBehind(): boolean {
    return this.#publishing !== undefined;
  }

  /** Resolves when all items published so far have been shown. */
  async upToDate(): Promise<void> {
    while (this.#publishing) await this.#publishing;
  }

  #show(items: readonly FeedItem[], origin: object | undefined): void {
    // The check saves an iterator for each fragment of a response.
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener.items(items);
    for (const joined of this.#readers) {
      if (joined.origin === undefined || joined.origin === origin) for (const item of items) joined.reader.push(item);
    }
  }
}

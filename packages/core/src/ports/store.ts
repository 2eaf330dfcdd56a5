import type { Event } from "../conversation/event.ts";

/**
 * Where conversations are kept: one log each.
 *
 * Contract: events come back as they were appended, in order, whatever Unicode they hold; an append is all or nothing;
 * what `append` acknowledged survives the process; one unreadable log hides no other. The session waits for each append
 * before the next. The conformance suite of `@banyan/core/testing` holds a store to it, but for crashes and damage, which
 * a store's own tests must provoke.
 */
export interface Store {
  /**
   * Opens a log for writing and takes the next writer epoch; whoever had it open before is refused from then on.
   * With `create`, makes an empty one when there is none. Rejects with `StoreError` (`not-found`, `locked`, `damaged`).
   */
  open(conversation: string, options?: { readonly create?: boolean }): Promise<Log>;
  /** The conversations that have events, the most recently written first. */
  list(query?: ListQuery): Promise<ConversationSummary[]>;
  close(): Promise<void>;
}

/** The log of one conversation, held by its one writer. */
export interface Log {
  readonly epoch: number;
  /** The sequence number of the last event; 0 for none. */
  readonly seq: number;
  /** What `read` has found damaged so far and passed over, one sentence each. Absent where nothing can be damaged. */
  readonly damage?: readonly string[];
  /** The events after `after`, in order, in batches. Damaged ones are passed over; `damage` says which. */
  read(after?: number): AsyncIterable<readonly Event[]>;
  /**
   * Appends events, all or none. Their `seq` must go on from the log's last one; throws or rejects with `StoreError`
   * `stale` otherwise, or when another writer has opened the log. Answers nothing when it is done at once, a promise
   * otherwise. With `durable`, what was appended, and all before it, survives a power cut once it is done.
   */
  append(events: readonly Event[], options?: { readonly durable?: boolean }): void | Promise<void>;
  close(): Promise<void>;
}

/** Which conversations to list. */
export interface ListQuery {
  /** Only conversations that carry these labels. */
  readonly labels?: Readonly<Record<string, string>>;
  /** At most this many; all when absent. */
  readonly limit?: number;
}

/** A conversation in a list. Times are milliseconds since 1970. */
export interface ConversationSummary {
  readonly id: string;
  /** The title, else the beginning of the first user message. */
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * `stale`: another writer has opened the conversation since. `locked`: another process holds the file. `damaged`: what is
 * stored cannot be read. `full`: the disk. `unusable`: the place cannot be read or written, or the store is closed.
 */
export type StoreErrorCode = "not-found" | "stale" | "locked" | "damaged" | "full" | "unusable";

/** The store could not do what was asked. `message` is one sentence that says what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

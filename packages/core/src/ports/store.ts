import type { Event } from "../conversation/event.ts";
import type { RightsPlace } from "./rights.ts";

/**
 * Where conversations are kept: one log each.
 *
 * Contract: events come back as they were appended, in order, whatever Unicode they hold; an append is all or nothing;
 * what `append` acknowledged survives the process; one unreadable log hides no other. The session waits for each append
 * before the next. An id is any text that `isId` takes: two that differ at all are two conversations, and another text is
 * the id of none (`not-found`, also with `create`). The conformance suite of `@banyan/core/testing` holds a store to it, but for crashes and damage, which
 * a store's own tests must provoke.
 */
export interface Store {
  /**
   * Opens a log for writing and takes the next writer epoch. Rejects with `StoreError`: `not-found`, `damaged`, or
   * `locked` while another writer has it open and lives, in this process or another; the message names that one. A writer
   * whose process is gone keeps nobody out.
   */
  open(conversation: string, options?: OpenOptions): Promise<Log>;
  /**
   * Looks at a log, whoever has it open: disturbs no writer and writes nothing. Shows what was there when it was opened.
   * Rejects with `StoreError`: `not-found`, or `damaged`.
   */
  view(conversation: string): Promise<LogView>;
  /** The conversations that have events, the most recently written first. */
  list(query?: ListQuery): Promise<ConversationSummary[]>;
  /**
   * The messages of all conversations and branches in which the words occur, the newest first: what users and the model
   * said, without reasoning, calls and what was removed. All words must be there, in any order and case; of the last one
   * the beginning is enough. Whatever is not a letter or a digit separates words; nothing in a query is an operator. A
   * query without words finds nothing.
   */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]>;
  /**
   * Removes a conversation for good, with what is remembered of it for lists and searches. Rejects with `StoreError`:
   * `not-found`, or `locked` while it is open anywhere.
   */
  remove(conversation: string): Promise<void>;
  close(): Promise<void>;
}

/** How a log is opened. */
export interface OpenOptions {
  /** Make an empty one when there is none. */
  readonly create?: boolean | undefined;
  /** Take it from whoever has it open: that writer's next append is refused as `stale`. */
  readonly take?: boolean | undefined;
}

/** The log of one conversation, for whoever only looks. */
export interface LogView {
  /** The sequence number of the last event; 0 for none. */
  readonly seq: number;
  /** Whether somebody has it open for writing, in this process or another. */
  readonly isOpen?: boolean;
  /** What `read` has found damaged so far and passed over, one sentence each. Absent where nothing can be damaged. */
  readonly damage?: readonly string[];
  /** The events after `after`, in order, in batches. Damaged ones are passed over; `damage` says which. */
  read(after?: number): AsyncIterable<readonly Event[]>;
  close(): Promise<void>;
}

/** The log of one conversation, held by its one writer. */
export interface Log extends LogView {
  readonly epoch: number;
  /**
   * What a person allowed here. Absent: it is forgotten when the session ends, and a call that was allowed is asked about
   * again by who goes on with it.
   */
  readonly rights?: RightsPlace;
  /**
   * The time by which what is written here is stamped, in milliseconds since 1970: one for all machines that write to the store,
   * so that a list is in order though one of them has a wrong clock. Absent: this machine's.
   */
  now?(): number;
  /**
   * Appends events, all or none. Their `seq` must go on from the log's last one; throws or rejects with `StoreError`
   * `stale` otherwise, or when another writer has opened the log. Returns nothing when it is done at once, a promise
   * otherwise. With `durable`, what was appended, and all before it, survives a power cut once it is done.
   */
  append(events: readonly Event[], options?: { readonly durable?: boolean }): void | Promise<void>;
}

/** Which conversations to list. */
export interface ListQuery {
  /** Only conversations that carry these labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** At most this many; all when absent. */
  readonly limit?: number | undefined;
}

/** A conversation in a list. Times are milliseconds since 1970. */
export interface ConversationSummary {
  readonly id: string;
  /** The title, else the beginning of the first user message. */
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The ids of the questions that wait for a user, whether the conversation is open or not; absent when there are none. */
  readonly questions?: readonly string[];
}

/** Where to search, and for how much. */
export interface SearchOptions {
  /** At most this many hits; 20 when absent. */
  readonly limit?: number | undefined;
  /** Only conversations that carry these labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Only this conversation. */
  readonly conversation?: string | undefined;
}

/** A message in which something was found. */
export interface SearchHit {
  readonly conversation: string;
  /** Of the conversation, as a list has it. */
  readonly title: string;
  readonly message: string;
  readonly role: "user" | "assistant";
  /** When it was said, in milliseconds since 1970. */
  readonly at: number;
  /** A line of the message around what was found, with "…" where something was left out. */
  readonly excerpt: string;
  /** What was found, as places in the excerpt in UTF-16 units: each from a first one up to but without a last one. */
  readonly matches: readonly (readonly [from: number, to: number])[];
}

/**
 * `stale`: another writer has taken the conversation since. `locked`: it is open elsewhere. `damaged`: what is
 * stored cannot be read. `full`: the disk. `unusable`: the place cannot be read or written, or the store is closed.
 */
export type StoreErrorCode = "not-found" | "stale" | "locked" | "damaged" | "full" | "unusable";

/** The store could not do what was asked. `message` is one sentence that says what to do. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  /** For `locked`: the process on this machine that has the conversation open, where that is known. */
  readonly process: number | undefined;
  /** For `locked`: the conversation, where that is known. */
  readonly conversation: string | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    options?: ErrorOptions & { readonly process?: number; readonly conversation?: string },
  ) {
    super(message, options);
    this.code = code;
    this.process = options?.process;
    this.conversation = options?.conversation;
  }
}

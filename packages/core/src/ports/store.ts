import type { Event } from "../conversation/event.ts";
import type { RightsPlace } from "./rights.ts";

/**
 * Storage of conversations, with one log each. Contract:
 * - Reading returns the appended events unchanged and in order. Their texts may contain any Unicode.
 * - An append writes all its events or none. Once acknowledged, it survives the end of the process. The session waits
 * for each append before the next.
 * - An unreadable log does not affect other logs.
 * - Every text that `isId` accepts is an id, and different ids are different conversations. For other texts, all
 * methods reject with `not-found`, even `open` with the option `create`.
 *
 * The conformance suite of `@banyan/core/testing` checks this contract, except crashes and damage. A store's own tests
 * must cover crashes and damage. See {@link memoryStore}.
 */
export interface Store {
  /**
   * Opens a log for writing, with the next writer epoch. Rejects with `StoreError`: `not-found`, `damaged`, or `locked`
   * while a live writer in any process has the log open; the message names the writer. A writer whose process is gone
   * does not lock.
   */
  open(conversation: string, options?: OpenLogOptions): Promise<Log>;
  /**
   * Opens a log for reading, even while another process writes. Writes nothing. Shows the events at the time of
   * opening. Rejects with `StoreError`: `not-found`, or `damaged`.
   */
  view(conversation: string): Promise<LogView>;
  /** Returns the conversations that have events, most recently written first; of equal times, the highest id first. */
  list(query?: ListQuery): Promise<ConversationSummary[]>;
  /**
   * Calls `changed` with conversations that other processes began, wrote, renamed or removed, until the returned
   * function is called. Absent: the store has no other processes, or they report their changes in another way.
   */
  watch?(changed: (conversations: readonly string[]) => void): () => void;
  /**
   * Searches the messages of all conversations and branches, newest first: texts of users and the model, without
   * reasoning, calls and removed messages. All words must occur, in any order and case; the last word may be a prefix.
   * Anything but letters and digits separates words; there are no operators. A query without words finds nothing.
   */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]>;
  /**
   * Permanently removes a conversation, with its entries for lists and searches. Rejects with `StoreError`:
   * `not-found`, or `locked` while any process has it open.
   */
  remove(conversation: string): Promise<void>;
  close(): Promise<void>;
}

/** Options of `Store.open`. See {@link memoryStore}. */
export interface OpenLogOptions {
  /** True to create an empty log if there is no log. */
  readonly create?: boolean | undefined;
  /** True to take the log from its current writer. The next append of that writer is then refused as `stale`. */
  readonly take?: boolean | undefined;
}

/** A read-only view of a conversation's log. See {@link memoryStore}. */
export interface LogView {
  /** Sequence number of the last event; 0 for none. */
  readonly seq: number;
  /** True if a writer in any process has the log open. */
  readonly isOpen?: boolean;
  /**
   * Damaged entries that `read` has skipped so far, each described in one sentence. Absent: this store cannot be
   * damaged.
   */
  readonly damage?: readonly string[];
  /** Yields the events after `after`, in order, in batches. Damaged events are skipped and listed in `damage`. */
  read(after?: number): AsyncIterable<readonly Event[]>;
  close(): Promise<void>;
}

/** The log of one conversation, with its only writer. See {@link memoryStore}. */
export interface Log extends LogView {
  readonly epoch: number;
  /** Permissions of the user. Absent: they end with the session. */
  readonly rights?: RightsPlace;
  /** Milliseconds since 1970 for new events, by one clock for all machines. Absent: this machine's clock is used. */
  now?(): number;
  /**
   * Appends events, all or none. Their `seq` must continue from the last event. Throws or rejects with `StoreError`
   * (`stale`) if it does not, or if another writer has opened the log. Returns a promise only if the append is not done
   * at once. With `durable`, these and all earlier events survive a power cut once this is done.
   */
  append(events: readonly Event[], options?: { readonly durable?: boolean }): void | Promise<void>;
}

/** Filter for lists of conversations. See {@link listPage}. */
export interface ListQuery {
  /** Limits the list to conversations with these labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Limits the list to conversations that have none of these labels. */
  readonly without?: readonly string[] | undefined;
  /** Limits the list to these conversations. */
  readonly conversations?: readonly string[] | undefined;
  /** True to list only conversations with an open question to a user. */
  readonly waiting?: boolean | undefined;
  /** Lists only the conversations after this one. To get the next page, pass the last conversation of a page. */
  readonly after?: Pick<ConversationSummary, "id" | "updatedAt"> | undefined;
  /** Maximum number. Default: all. */
  readonly limit?: number | undefined;
}

/** A conversation in a list. Times are milliseconds since 1970. See {@link listPage}. */
export interface ConversationSummary {
  readonly id: string;
  /** The title, or else the beginning of the first user message. */
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Ids of the open questions to users, also of a conversation that is not open. Absent: none. */
  readonly questions?: readonly string[];
}

/** Options of `Store.search`. See {@link searchLogs}. */
export interface SearchOptions {
  /** Maximum number of hits. Default 20. */
  readonly limit?: number | undefined;
  /** Limits the search to conversations with these labels. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Limits the search to conversations that have none of these labels. */
  readonly without?: readonly string[] | undefined;
  /** Limits the search to this conversation. */
  readonly conversation?: string | undefined;
  /** A signal that cancels the search. The search then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A message that matches a search. See {@link searchLogs}. */
export interface SearchHit {
  readonly conversation: string;
  readonly title: string;
  readonly message: string;
  readonly role: "user" | "assistant";
  /** Time of the message in milliseconds since 1970. */
  readonly at: number;
  /** A line of the message that contains the match. "…" replaces omitted text. */
  readonly excerpt: string;
  /** Where the matches are in the excerpt: ranges in UTF-16 units. `from` is included, `to` is not. */
  readonly matches: readonly (readonly [from: number, to: number])[];
}

/**
 * Kind of failure of a store. `stale`: another writer has taken the conversation. `locked`: another writer has it open.
 * `damaged`: the stored data cannot be read. `full`: the disk is full. `unusable`: the folder or database cannot be
 * read or written, or the store is closed. See {@link StoreError}.
 */
export type StoreErrorCode = "not-found" | "stale" | "locked" | "damaged" | "full" | "unusable";

/**
 * Error of a store. `message` is one sentence with advice.
 * @example Session.open(store, "order-7").catch((error) => error instanceof StoreError && console.log(error.code));
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  /** For `locked`: the process on this machine that has the conversation open, if known. */
  readonly process: number | undefined;
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

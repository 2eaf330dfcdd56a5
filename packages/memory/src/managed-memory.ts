import type { Memory, MemoryItem, MemoryKind } from "@banyan/core";

/** One user's memory, with functions for users and tools to manage it. Every method rejects with `MemoryError`. */
export interface ManagedMemory extends Memory, AsyncDisposable {
  /**
   * Lists entries, newest first. `limit`: default 50; `after`: the id of the previous page's last entry; `conversation`:
   * only entries of this conversation.
   */
  list(page?: {
    readonly limit?: number;
    readonly after?: number;
    readonly conversation?: string | undefined;
  }): Promise<MemoryEntry[]>;
  /** Finds entries with all words of the query, in any order and inflection, best first. Default limit 20. */
  search(query: string, options?: MemorySearchOptions): Promise<MemoryEntry[]>;
  /**
   * Remembers a fact without its secrets, and returns the entry. A known fact gets a further source. Rejects for an empty
   * fact, one longer than 2,000 characters, or a conversation whose memory is off.
   */
  add(fact: NewFact): Promise<MemoryEntry>;
  /** Removes an entry permanently. Returns whether it existed. */
  remove(id: number): Promise<boolean>;
  /** Permanently removes entries known only from a conversation, or all entries. Returns their number. */
  clear(from?: { readonly conversation: string }): Promise<number>;
  /** The summaries of finished tasks and compacted conversations of a directory, newest first. */
  summaries(directory: string, limit: number): Promise<MemoryEntry[]>;
  /** Returns whether memory is on for a conversation, which is the default. */
  isOn(conversation: string): Promise<boolean>;
  /**
   * Turns memory on or off for a conversation, in all processes. While off, the conversation is neither remembered nor
   * gets memories, and its existing entries are not recalled anywhere.
   */
  setOn(conversation: string, on: boolean): Promise<void>;
  /** Waits briefly for pending writes, then closes the memory. */
  close(): Promise<void>;
}

/**
 * Limits of a search: number of entries and time.
 * @example
 * const found = await memory.search("the staging server", { limit: 5, signal: AbortSignal.timeout(500) });
 */
export interface MemorySearchOptions {
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** A memory entry and its last source. */
export interface MemoryEntry {
  /** Increasing; never reused. */
  readonly id: number;
  readonly kind: MemoryKind;
  readonly text: string;
  /** The source, in words for users. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly role?: "user" | "assistant";
  readonly conversation?: string;
  readonly message?: string;
  readonly directory?: string;
}

/** A fact that a user or an agent wants to keep, with its source if it has one. */
export type NewFact = Pick<MemoryItem, "text"> & Partial<Pick<MemoryItem, "conversation" | "message" | "directory">>;

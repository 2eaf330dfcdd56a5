import type { Memory, MemoryItem, MemoryKind } from "@banyan/core";

/**
 * The memory of one user. Lists, finds and changes its entries. Every method rejects with `MemoryError`.
 * See {@link memoryTools}.
 */
export interface ManagedMemory extends Memory, AsyncDisposable {
  /** Lists entries, newest first. `limit`: default 50. `after`: the previous page's last id. */
  list(page?: {
    readonly limit?: number;
    readonly after?: number;
    readonly conversation?: string | undefined;
  }): Promise<MemoryEntry[]>;
  /** Finds entries with all words of the query, in any order and inflection, best first. Default limit 20. */
  search(query: string, options?: MemorySearchOptions): Promise<MemoryEntry[]>;
  /** Stores a fact without its secrets. Rejects for an empty or too long fact, or while memory is off. */
  add(fact: NewFact): Promise<MemoryEntry>;
  /** Removes an entry permanently. Returns whether the entry existed. */
  remove(id: number): Promise<boolean>;
  /** Permanently removes all entries, or those known only from one conversation. Returns their number. */
  clear(from?: { readonly conversation: string }): Promise<number>;
  /** Returns summaries of finished tasks and compacted conversations of a directory, newest first. */
  summaries(directory: string, limit: number): Promise<MemoryEntry[]>;
  /** Returns whether memory is on for a conversation, which is the default. */
  isOn(conversation: string): Promise<boolean>;
  /**
   * Turns memory on or off for a conversation, in all processes. While off, the conversation is not remembered, gets no
   * memories, and its existing entries are not recalled.
   */
  setOn(conversation: string, on: boolean): Promise<void>;
  /** Waits briefly for pending writes, then closes the memory. */
  close(): Promise<void>;
}

/**
 * Options of a search: the number of entries, and a signal.
 * @example
 * const found = await memory.search("the staging server", { limit: 5, signal: AbortSignal.timeout(500) });
 */
export interface MemorySearchOptions {
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** A stored text with its newest source. See {@link sqliteMemory}. */
export interface MemoryEntry {
  /** Ids increase and are never reused. */
  readonly id: number;
  readonly kind: MemoryKind;
  readonly text: string;
  /** Describes the source to users. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly role?: "user" | "assistant";
  readonly conversation?: string;
  readonly message?: string;
  readonly directory?: string;
}

/** A fact to store, with the conversation, message and directory of its source, if known. See {@link sqliteMemory}. */
export type NewFact = Pick<MemoryItem, "text"> & Partial<Pick<MemoryItem, "conversation" | "message" | "directory">>;

import type { Memory, MemoryItem, MemoryKind } from "@banyan/core";

/** One user's memory, with what people and tools need to look after it. Every method rejects with `MemoryError`. */
export interface ManagedMemory extends Memory, AsyncDisposable {
  /**
   * The newest first. `limit`: 50 when absent; `after`: the id of the last entry of the page before; `conversation`: only
   * entries that are known from this conversation.
   */
  list(page?: {
    readonly limit?: number;
    readonly after?: number;
    readonly conversation?: string | undefined;
  }): Promise<MemoryEntry[]>;
  /** The entries that hold all words of the query, in any order and inflection, best first; 20 when no limit is given. */
  search(query: string, options?: MemorySearchOptions): Promise<MemoryEntry[]>;
  /**
   * Keeps a fact, and returns how it is kept: without its secrets. A fact that is there already gets a further source.
   * Refused when it is empty or longer than 2,000 characters, or its conversation is off.
   */
  add(fact: NewFact): Promise<MemoryEntry>;
  /** Forgets an entry for good. Returns whether there was one. */
  remove(id: number): Promise<boolean>;
  /** Forgets for good what is known from a conversation alone, or everything. Returns how many entries went. */
  clear(from?: { readonly conversation: string }): Promise<number>;
  /** The newest summaries of finished tasks and shortened conversations of a directory, the newest first. */
  summaries(directory: string, limit: number): Promise<MemoryEntry[]>;
  /** Whether memory is on for a conversation, as it is until somebody switches it off. */
  isOn(conversation: string): Promise<boolean>;
  /**
   * Switches memory on or off for a conversation, for every process. While it is off, nothing of it is remembered,
   * nothing is recalled into it, and what was remembered of it before is recalled nowhere.
   */
  setOn(conversation: string, on: boolean): Promise<void>;
  /** Waits a moment for what is being written, and ends. Nothing can be asked afterwards. */
  close(): Promise<void>;
}

/**
 * How many entries a search answers, and until when it may take.
 * @example
 * const found = await memory.search("the staging server", { limit: 5, signal: AbortSignal.timeout(500) });
 */
export interface MemorySearchOptions {
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Something that is remembered, and where it was said last. */
export interface MemoryEntry {
  /** Counts up; never given again. */
  readonly id: number;
  readonly kind: MemoryKind;
  readonly text: string;
  /** Where it is from, in words for people. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly role?: "user" | "assistant";
  readonly conversation?: string;
  readonly message?: string;
  readonly directory?: string;
}

/** A fact that a person or an agent wants kept, and where it came up, as far as it did anywhere. */
export type NewFact = Pick<MemoryItem, "text"> & Partial<Pick<MemoryItem, "conversation" | "message" | "directory">>;

import type { RecalledMemory } from "../conversation/message.ts";

/** Memory of an agent across conversations. See {@link sqliteMemory}. */
export interface Memory {
  /** Returns entries that match the query, best first. A turn continues without memory if this fails or times out. */
  recall(query: string, options: RecallOptions): Promise<readonly RecalledMemory[]>;
  /** Stores memorable items of a turn, in order. Runs in the background, after the turn. */
  remember(items: readonly MemoryItem[]): Promise<void>;
}

/** Options of `Memory.recall`. See {@link sqliteMemory}. */
export interface RecallOptions {
  /** Maximum number of entries. */
  readonly limit: number;
  /** A signal that aborts when the result is no longer needed. */
  readonly signal: AbortSignal;
  /**
   * The current conversation. Memory leaves out the entries from this conversation, because the model sees its messages
   * anyway.
   */
  readonly conversation?: string;
  /** Called with a sentence for users when only a part of the memory was searched. */
  readonly notice?: (reason: string) => void;
}

/**
 * Kind of an entry. `said`: messages of a turn. `fact`: a fact that a user wanted to keep. `summary`: the summary of a
 * task. See {@link sqliteMemory}.
 */
export type MemoryKind = "said" | "fact" | "summary";

/** An entry for memory, with the conversation that it comes from. See {@link sqliteMemory}. */
export interface MemoryItem {
  readonly text: string;
  readonly conversation: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Default: `said`. */
  readonly kind?: MemoryKind;
  /** The speaker. */
  readonly role?: "user" | "assistant";
  /** Id of the message with the text. */
  readonly message?: string;
  /** The directory in which the agent works. Absent: the directory of the memory. */
  readonly directory?: string;
}

import type { Recalled } from "../conversation/message.ts";

/** What an agent knows from earlier conversations. */
export interface Memory {
  /**
   * What fits the query, best first. A failure or a time-out leaves the turn without memory, and is told in the feed.
   */
  recall(query: string, options: RecallOptions): Promise<readonly Recalled[]>;
  /** Keeps what is worth keeping of what one turn said, in its order; runs in the background, after the turn. */
  remember(items: readonly MemoryItem[]): Promise<void>;
}

/** How much is recalled, and for whom. */
export interface RecallOptions {
  /** The most items. */
  readonly limit: number;
  /** When it aborts, nobody waits for a response any more. */
  readonly signal: AbortSignal;
  /** The conversation that is recalled into: the model sees what is from there anyway, and it does not come back. */
  readonly conversation?: string;
  /** Told, in a sentence for people, when a response comes but only a part of the memory was looked through. */
  readonly notice?: (reason: string) => void;
}

/** What something in a memory is: said in a turn, a fact that somebody wanted kept, or the summary of a task. */
export type MemoryKind = "said" | "fact" | "summary";

/** Something worth knowing later, and the conversation that it is from. */
export interface MemoryItem {
  readonly text: string;
  readonly conversation: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `said` when absent. */
  readonly kind?: MemoryKind;
  /** Who said it. */
  readonly role?: "user" | "assistant";
  /** The id of the message that it stands in. */
  readonly message?: string;
  /** The directory that was worked in; the one that the memory was made for when absent. */
  readonly directory?: string;
}

import type { Recalled } from "../conversation/message.ts";

/** What an agent knows from earlier conversations. */
export interface Memory {
  /** What fits the query, best first. A failure or a time-out leaves the turn without memory, and is told in the feed. */
  recall(
    query: string,
    options: { readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly Recalled[]>;
  /** Keeps what is worth keeping; runs in the background, after the turn. */
  remember(items: readonly MemoryItem[]): Promise<void>;
}

/** Something worth knowing later, and the conversation that it is from. */
export interface MemoryItem {
  readonly text: string;
  readonly conversation: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

import type { ConversationState, FeedItem } from "@banyan/core";

/** Shows a conversation as it goes on, and what the program has to say between. */
export interface FeedView {
  /** Shows an item of the feed; the state has it already. */
  show(item: FeedItem, state: ConversationState): void;
  /** A sentence of the program's own. */
  say(sentence: string): void;
  /** One that can be passed over. */
  note(sentence: string): void;
  /** What the agent said, when it was not seen as it was written. */
  answer(text: string): void;
  /** A line as it is. */
  line(text: string): void;
  /** Shows that something is done for the person, and not by the agent, until what this returns is disposed of. */
  busyWith(what: string): Disposable;
  /** Stands apart from what follows. */
  gap(): void;
}

import type { ConversationState, FeedItem } from "@banyan/core";

/** Shows a live conversation, and messages of the program. */
export interface FeedView {
  /** Shows a feed item, which the state has already applied. */
  show(item: FeedItem, state: ConversationState): void;
  say(sentence: string): void;
  /** Prints a minor sentence. */
  note(sentence: string): void;
  /** Prints an answer that was not streamed. */
  answer(text: string): void;
  line(text: string): void;
  /** Shows work that the user started, not the agent, until the returned object is disposed of. */
  busyWith(what: string): Disposable;
  /** Separates the next output by an empty line. */
  gap(): void;
}

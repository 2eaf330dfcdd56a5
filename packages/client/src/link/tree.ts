import type { Change, ConversationState, FeedItem, LiveRun, Message } from "@banyan/core/conversation";
import type { Mirror } from "./mirror.ts";

/** A conversation tree in a client: its own copy, or the tree of this process. See {@link WatchedConversation}. */
export type Tree = Pick<
  Mirror,
  "state" | "interrupted" | "damage" | "narrowed" | "unread" | "outline" | "take" | "fill"
> & {
  /** Position from which the feed continues. Absent: the reader cannot miss items. */
  readonly cursor?: Mirror["cursor"];
};

/** A conversation that is open in this process, such as a `Session`. See {@link Client}. */
export interface LocalConversation {
  readonly id: string;
  readonly state: ConversationState;
  readonly interrupted: readonly LiveRun[];
  readonly damage: readonly string[];
}

/**
 * The tree of a conversation that this process has open. The tree can contain events that the feed has not yet sent.
 */
export class SharedTree implements Tree {
  readonly #conversation: LocalConversation;

  constructor(conversation: LocalConversation) {
    this.#conversation = conversation;
  }

  get state(): ConversationState {
    return this.#conversation.state;
  }

  get interrupted(): readonly LiveRun[] {
    return this.#conversation.interrupted;
  }

  get damage(): readonly string[] {
    return this.#conversation.damage;
  }

  /** The host informs its own user about these rules. */
  get narrowed(): readonly [] {
    return [];
  }

  unread(): string[] {
    return [];
  }

  outline(): undefined {
    return undefined;
  }

  /** The writer of the tree has applied the items already. */
  take(items: readonly FeedItem[]): Change[] {
    return items.map(() => ({}));
  }

  fill(_messages: readonly Message[]): void {}
}

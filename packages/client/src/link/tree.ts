import type { Change, ConversationState, FeedItem, LiveRun, Message } from "@banyan/core/conversation";
import type { Mirror } from "./mirror.ts";

/** A tree as a client has it: a mirror of its own, or the one of this process. */
export type Tree = Pick<
  Mirror,
  "state" | "interrupted" | "damage" | "narrowed" | "unread" | "outline" | "take" | "fill"
> & {
  /** From here the feed goes on; absent where nothing can be missed. */
  readonly cursor?: Mirror["cursor"];
};

/** A conversation that is open in this process; a `Session` is one. */
export interface OpenConversation {
  readonly id: string;
  readonly state: ConversationState;
  readonly interrupted: readonly LiveRun[];
  readonly damage: readonly string[];
}

/**
 * The tree of a conversation that is open in this process, read where it is: nothing is copied, and all of it is known. It
 * may say more already than the feed has told.
 */
export class SharedTree implements Tree {
  readonly #conversation: OpenConversation;

  constructor(conversation: OpenConversation) {
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

  /** The host tells its own user of these rules. */
  get narrowed(): readonly [] {
    return [];
  }

  unread(): string[] {
    return [];
  }

  outline(): undefined {
    return undefined;
  }

  /** Who writes to the tree has made it what the items say. */
  take(items: readonly FeedItem[]): Change[] {
    return items.map(() => ({}));
  }

  fill(_messages: readonly Message[]): void {}
}

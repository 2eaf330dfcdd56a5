import type { ConversationState, FeedItem } from "@banyan/core";
import { Mirror, type Snapshot } from "@banyan/protocol";

/** Who follows a conversation on a server. */
export interface Follower {
  /** The state is another object from now on: at the start, and when the server had another writer. */
  renewed?(state: ConversationState): void;
  /** Something happened; the state says it already. */
  item?(item: FeedItem, state: ConversationState): void;
  /** No more comes: it was removed, or cannot be written any more. */
  ended?(message: string): void;
}

/** A conversation on a server, as this client holds it. */
export class RemoteConversation {
  readonly id: string;
  readonly #followers = new Set<Follower>();
  #mirror: Mirror;

  constructor(snapshot: Snapshot) {
    this.id = snapshot.conversation;
    this.#mirror = new Mirror(snapshot);
  }

  /** The tree; what has not been read stands in it without parts (`mirror.unread`). */
  get state(): ConversationState {
    return this.#mirror.state;
  }

  get mirror(): Mirror {
    return this.#mirror;
  }

  /** From now on the follower is told; until the answered function is called. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** The server began anew. */
  renew(snapshot: Snapshot): void {
    this.#mirror = new Mirror(snapshot);
    for (const follower of this.#followers) follower.renewed?.(this.state);
  }

  /** What a `feed` frame brings. */
  take(items: readonly FeedItem[]): void {
    for (const item of items) {
      this.#mirror.take([item]);
      for (const follower of this.#followers) follower.item?.(item, this.state);
    }
  }

  /** The server has nothing more to tell. */
  end(message: string): void {
    for (const follower of this.#followers) follower.ended?.(message);
  }
}

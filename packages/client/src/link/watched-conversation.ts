import type { Change, ConversationState, FeedItem, Message } from "@banyan/core/conversation";
import { MESSAGES_AT_ONCE } from "@banyan/protocol/values";
import { ClientError } from "./link.ts";
import type { Tree } from "./tree.ts";

/**
 * State of a watched conversation. `loading`: no snapshot yet. `live`: the client follows the feed. `removed`: a user
 * removed the conversation. `broken`: the log cannot be written. `missing`: it could not be watched.
 * See {@link WatchedConversation}.
 */
export type WatchState = "loading" | "live" | "removed" | "broken" | "missing";

/** A listener of a watched conversation. See {@link WatchedConversation}. */
export interface ConversationFollower {
  /** The state is a new object: after the first snapshot, and after a restart of the server. */
  renewed?(state: ConversationState): void;
  /** An item arrived; the state includes it already. */
  item?(item: FeedItem, change: Change): void;
  /** Messages were read; the state includes their content. */
  read?(messages: readonly Message[]): void;
  /** `standing` and `problem` of the conversation have changed. */
  stands?(standing: WatchState): void;
}

/** Requests the content of messages. Resolves when the answer was applied. Rejects with `ClientError`. */
type ReadMessages = (messages: readonly string[]) => Promise<readonly Message[]>;

/**
 * A client's view of a conversation, updated by its feed.
 * @example
 * const watched = await client.watch("garden").loaded;
 * watched.follow({ item: ({ type }) => console.log(type, watched.state.messages.size) });
 */
export class WatchedConversation {
  readonly id: string;
  /** The last message of the branch whose messages are complete in the snapshot. */
  readonly leaf: string | undefined;
  readonly #ask: ReadMessages;
  readonly #followers = new Set<ConversationFollower>();
  #loaded = Promise.withResolvers<this>();
  readonly #reading = new Map<string, Promise<readonly Message[]>>();
  #tree: Tree | undefined;
  #standing: WatchState = "loading";
  #problem: ClientError | undefined;

  constructor(id: string, leaf: string | undefined, ask: ReadMessages) {
    this.id = id;
    this.leaf = leaf;
    this.#ask = ask;
  }

  /** Resolves when the state is loaded. Rejects with `ClientError` if it cannot be loaded. */
  get loaded(): Promise<this> {
    return this.#loaded.promise;
  }

  get standing(): WatchState {
    return this.#standing;
  }

  /** The reason if the conversation is removed, broken or missing. */
  get problem(): ClientError | undefined {
    return this.#problem;
  }

  /** The conversation with the other data of a snapshot; nothing while loading. */
  get tree(): Tree | undefined {
    return this.#tree;
  }

  /** The tree. Unread messages in it have no parts (`tree.unread`). Throws while loading. */
  get state(): ConversationState {
    if (!this.#tree) throw new ClientError("invalid", `The conversation ${this.id} has not been loaded yet.`);
    return this.#tree.state;
  }

  /** Adds a follower, until the returned function is called. */
  follow(follower: ConversationFollower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Reads the given unread messages, or all. Resolves when the server has no more. Rejects with `ClientError`. */
  async read(messages?: Iterable<string>): Promise<void> {
    const named = messages && [...messages];
    // The server may send a new snapshot meanwhile, with further messages.
    const rest = () => this.#tree?.unread(named ?? this.state.messages.keys()) ?? [];
    for (let unread = rest(); unread.length > 0; unread = rest()) {
      const wanted = unread.filter((id) => !this.#reading.has(id)).slice(0, MESSAGES_AT_ONCE);
      const answer = wanted.length > 0 ? this.#read(wanted) : this.#reading.get(unread[0] as string);
      if ((await answer)?.length === 0) return;
    }
  }

  begin(tree: Tree): void {
    this.#tree = tree;
    this.#loaded.resolve(this);
    this.stand("live");
    for (const follower of this.#followers) follower.renewed?.(this.state);
  }

  /** Applies the items of a `feed` frame. */
  take(items: readonly FeedItem[]): void {
    const tree = this.#tree;
    for (const item of tree ? items : []) {
      const [change = {}] = tree?.take([item]) ?? [];
      for (const follower of this.#followers) follower.item?.(item, change);
    }
  }

  /** Inserts messages that were read, in order with the frames of the feed. */
  fill(messages: readonly Message[]): void {
    this.#tree?.fill(messages);
    for (const follower of this.#followers) follower.read?.(messages);
  }

  stand(standing: WatchState, problem?: ClientError): void {
    if (problem && !this.#tree) {
      this.#loaded.reject(problem);
      // Nothing may wait for this promise.
      this.#loaded.promise.catch(() => {});
    } else if (this.#problem && !this.#tree) this.#loaded = Promise.withResolvers();
    if (standing === this.#standing && problem?.message === this.#problem?.message) return;
    this.#standing = standing;
    this.#problem = problem;
    for (const follower of this.#followers) follower.stands?.(standing);
  }

  #read(wanted: readonly string[]): Promise<readonly Message[]> {
    const answer = this.#ask(wanted).finally(() => {
      for (const id of wanted) this.#reading.delete(id);
    });
    for (const id of wanted) this.#reading.set(id, answer);
    return answer;
  }
}

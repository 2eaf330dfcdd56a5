import type { Change, ConversationState, FeedItem, Message } from "@banyan/core/conversation";
import { MESSAGES_AT_ONCE } from "@banyan/protocol/values";
import { ClientError } from "./link.ts";
import type { Tree } from "./tree.ts";

/**
 * How a watched conversation stands. `loading`: its snapshot has not come. `live`: its feed is followed. `removed`: it is
 * gone. `broken`: its log cannot be written any more. `missing`: it could not be watched.
 */
export type Standing = "loading" | "live" | "removed" | "broken" | "missing";

/** Who follows a watched conversation. */
export interface Follower {
  /** The state is another object from now on: with the first snapshot, and when the server began anew. */
  renewed?(state: ConversationState): void;
  /** Something happened; the state says it already. */
  item?(item: FeedItem, change: Change): void;
  /** Messages were read; the state has what they say. */
  read?(messages: readonly Message[]): void;
  /** It stands otherwise than before: see `standing` and `problem`. */
  stands?(standing: Standing): void;
}

/** Asks for what messages say; resolves when the answer has been taken. Rejects with `ClientError`. */
type Read = (messages: readonly string[]) => Promise<readonly Message[]>;

/** A conversation as a client holds it: what the server says of it, kept up to date by its feed. */
export class Watched {
  readonly id: string;
  /** The last message of the branch that is shown first: the end of that branch comes whole with the snapshot. */
  readonly leaf: string | undefined;
  readonly #ask: Read;
  readonly #followers = new Set<Follower>();
  #loaded = Promise.withResolvers<this>();
  /** Messages that are being read. */
  readonly #reading = new Map<string, Promise<readonly Message[]>>();
  #tree: Tree | undefined;
  #standing: Standing = "loading";
  #problem: ClientError | undefined;

  constructor(id: string, leaf: string | undefined, ask: Read) {
    this.id = id;
    this.leaf = leaf;
    this.#ask = ask;
  }

  /** Resolves when there is a state. Rejects with `ClientError` when there will be none. */
  get loaded(): Promise<this> {
    return this.#loaded.promise;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** Why it is removed, broken or missing. */
  get problem(): ClientError | undefined {
    return this.#problem;
  }

  /** The conversation, with what else a snapshot tells; nothing while it is loading. */
  get tree(): Tree | undefined {
    return this.#tree;
  }

  /** The tree; what has not been read stands in it without parts (`tree.unread`). Throws while it is loading. */
  get state(): ConversationState {
    if (!this.#tree) throw new ClientError("invalid", `The conversation ${this.id} has not been loaded yet.`);
    return this.#tree.state;
  }

  /** From now on the follower is told; until the returned function is called. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * Reads what messages say, all of them when none are named, as far as that is not known. Resolves when it is known, or the
   * server knows no more of it. Rejects with `ClientError`.
   */
  async read(messages?: Iterable<string>): Promise<void> {
    const named = messages && [...messages];
    // The server may begin anew meanwhile, with messages that were not there before.
    const rest = () => this.#tree?.unread(named ?? this.state.messages.keys()) ?? [];
    for (let unread = rest(); unread.length > 0; unread = rest()) {
      const wanted = unread.filter((id) => !this.#reading.has(id)).slice(0, MESSAGES_AT_ONCE);
      const answer = wanted.length > 0 ? this.#read(wanted) : this.#reading.get(unread[0] as string);
      if ((await answer)?.length === 0) return;
    }
  }

  /** This is the conversation as it is now. */
  begin(tree: Tree): void {
    this.#tree = tree;
    this.#loaded.resolve(this);
    this.stand("live");
    for (const follower of this.#followers) follower.renewed?.(this.state);
  }

  /** What a `feed` frame brings. */
  take(items: readonly FeedItem[]): void {
    const tree = this.#tree;
    for (const item of tree ? items : []) {
      const [change = {}] = tree?.take([item]) ?? [];
      for (const follower of this.#followers) follower.item?.(item, change);
    }
  }

  /** The answer to what was read, in its place between the frames of the feed. */
  fill(messages: readonly Message[]): void {
    this.#tree?.fill(messages);
    for (const follower of this.#followers) follower.read?.(messages);
  }

  /** It stands so from now on. */
  stand(standing: Standing, problem?: ClientError): void {
    if (problem && !this.#tree) {
      this.#loaded.reject(problem);
      // Whoever waits for it is told; whoever does not must not end the process.
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

import type { Client, WatchedConversation } from "@banyan/client";
import type { ConversationState, FeedItem } from "@banyan/core";
import { TalkSession } from "../session/talk-session.ts";
import type { OwnDesk } from "./own-desk.ts";

/** Receives events of the current conversation. */
export interface ConversationEvents {
  happened(item: FeedItem, state: ConversationState): void;
  /** The server restarted. The conversation's state is a new object. */
  renewed(session: TalkSession): void;
  gone(why: string): void;
  /** The log failed. The next message reopens the conversation as far as it was written. */
  lost(problem: Error): void;
}

/** The user's current conversation. The first message begins it, and the user can switch to another. */
export class CurrentConversation {
  readonly #client: Client;
  readonly #own: OwnDesk | undefined;
  readonly #events: ConversationEvents;
  #session: TalkSession | undefined;
  #unfollow = () => {};
  #opening: Promise<TalkSession> | undefined;
  #lost: string | undefined;

  constructor(client: Client, own: OwnDesk | undefined, events: ConversationEvents) {
    this.#client = client;
    this.#own = own;
    this.#events = events;
  }

  get session(): TalkSession | undefined {
    return this.#session;
  }

  /** Id of the conversation that the user can resume: it has messages, or its log failed. */
  get kept(): string | undefined {
    if (!this.#session) return this.#lost;
    return this.#session.state.messages.size > 0 ? this.#session.id : undefined;
  }

  /**
   * Resolves with the current conversation. Without one, calls `enter` for a new or the lost conversation, only once
   * for concurrent callers. Rejects with `ClientError`.
   */
  async open(enter: (conversation: string) => Promise<TalkSession>): Promise<TalkSession> {
    if (this.#session) return this.#session;
    this.#opening ??= this.#create().then(enter);
    return this.#opening.finally(() => {
      this.#opening = undefined;
    });
  }

  /** Enters and reads a conversation. Calls `stands` once the conversation is current. Rejects with `ClientError`. */
  async enter(conversation: string, stands: () => void): Promise<TalkSession> {
    const watched = await this.#watched(conversation);
    const session = new TalkSession(this.#client, watched);
    this.#session = session;
    this.#lost = undefined;
    stands();
    await session.read();
    this.#unfollow = watched.follow({
      item: (item) => this.#events.happened(item, session.state),
      renewed: () => this.#events.renewed(session),
      stands: (standing) => {
        if (standing === "live") return;
        const problem = watched.problem ?? new Error("The conversation was removed.");
        if (standing === "broken") return this.#lose(session, problem);
        this.#session = undefined;
        this.#events.gone(problem.message);
      },
    });
    return session;
  }

  /** Leaves the conversation, so that another program can open it. Returns its id, if there was one. */
  async leave(): Promise<string | undefined> {
    const left = this.#session;
    this.#lost = undefined;
    if (!left) return undefined;
    this.#unfollow();
    this.#session = undefined;
    await this.#client.leave(left.watched);
    await this.#own?.close(left.id);
    return left.id;
  }

  async #create(): Promise<string> {
    return this.#lost ?? (await this.#client.ask("conversation.create", {})).conversation;
  }

  #lose(session: TalkSession, problem: Error): void {
    this.#unfollow();
    this.#session = undefined;
    this.#lost = session.id;
    this.#client.leave(session.watched).catch(() => {});
    this.#events.lost(problem);
  }

  /** Watches a conversation. After a failure the client does not watch it again on reconnect. */
  async #watched(conversation: string): Promise<WatchedConversation> {
    const watched = this.#client.watch(conversation);
    try {
      return await watched.loaded;
    } catch (error) {
      this.#client.leave(watched).catch(() => {});
      throw error;
    }
  }
}

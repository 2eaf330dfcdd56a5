import type { Client, Watched } from "@banyan/client";
import type { ConversationState, FeedItem } from "@banyan/core";
import type { OwnDesk } from "./own-desk.ts";
import { TalkSession } from "./talk-session.ts";

/** What is heard of the conversation that a person is in. */
export interface ConversationEvents {
  happened(item: FeedItem, state: ConversationState): void;
  /** The state is another object: the server began anew. */
  renewed(session: TalkSession): void;
  /** It cannot be watched any more. */
  gone(why: string): void;
  /** Its log has failed: it is opened anew, as far as it was written, with what is said next. */
  lost(problem: Error): void;
}

/** The conversation that a person is in: none at first, begun with the first message, left for another one or for none. */
export class CurrentConversation {
  readonly #client: Client;
  readonly #own: OwnDesk | undefined;
  readonly #events: ConversationEvents;
  #session: TalkSession | undefined;
  #unfollow = () => {};
  #opening: Promise<TalkSession> | undefined;
  /** The id of one whose log failed. */
  #lost: string | undefined;

  constructor(client: Client, own: OwnDesk | undefined, events: ConversationEvents) {
    this.#client = client;
    this.#own = own;
    this.#events = events;
  }

  /** None before the first message. */
  get session(): TalkSession | undefined {
    return this.#session;
  }

  /** The id of the one that a person can come back to, in which something was said; also of one whose log failed. */
  get kept(): string | undefined {
    if (!this.#session) return this.#lost;
    return this.#session.state.messages.size > 0 ? this.#session.id : undefined;
  }

  /**
   * Resolves with it; where there is none, `enter` goes into a new one, or into the one that was lost: once, also for two who
   * ask in one moment. Rejects with `ClientError`.
   */
  async open(enter: (conversation: string) => Promise<TalkSession>): Promise<TalkSession> {
    if (this.#session) return this.#session;
    this.#opening ??= this.#create().then(enter);
    return this.#opening.finally(() => {
      this.#opening = undefined;
    });
  }

  /** Goes into one, all of which is known then. `stands` is called when the person is in it. Rejects with `ClientError`. */
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
        const problem = watched.problem ?? new Error("The conversation is gone.");
        if (standing === "broken") return this.#lose(session, problem);
        // Nobody can come back to it.
        this.#session = undefined;
        this.#events.gone(problem.message);
      },
    });
    return session;
  }

  /** Leaves it, so that at a desk of this program another program can have it. Returns its id, if there was one. */
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
    this.#client.leave(session.watched).catch(() => {
      // The desk has let go of it.
    });
    this.#events.lost(problem);
  }

  /** What cannot be watched is not asked for again when the connection is lost. */
  async #watched(conversation: string): Promise<Watched> {
    const watched = this.#client.watch(conversation);
    try {
      return await watched.loaded;
    } catch (error) {
      this.#client.leave(watched).catch(() => {
        // It is not followed: nothing is left to be told.
      });
      throw error;
    }
  }
}

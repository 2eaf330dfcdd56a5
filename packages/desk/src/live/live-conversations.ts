import type { Session } from "@banyan/core";
import type { ConversationSummary, ListQuery, SearchHit, SearchOptions } from "@banyan/core/stores";
import { type AnswerStyle, type Host, listForUsers, narrowedRules, searchForUsers } from "@banyan/host";
import type { ListedConversation } from "@banyan/protocol";
import { ServerStopping } from "../request/problem.ts";
import type { ConversationActivity } from "./elsewhere.ts";
import { LiveConversation } from "./live-conversation.ts";
import type { UnreadCounts } from "./unread.ts";

/** The store of the conversations, and how long an unused conversation stays open. */
export interface LiveConversationsOptions {
  readonly host: Pick<Host, "newSession" | "openById" | "store">;
  readonly unread: UnreadCounts;
  /** Milliseconds until an unwatched conversation without running work closes. */
  readonly idle: number;
  /** The conversation's entry in the list may have changed or gone. */
  changed(conversation: string): void;
  /** The activity of conversations that are open on other nodes. Absent: there are no other nodes. */
  elsewhere?(): Promise<ReadonlyMap<string, ConversationActivity>>;
}

/**
 * The conversations of a server. The server opens a conversation on demand, and keeps it open for clients and running work. It
 * closes an unused conversation, so that other programs can open it.
 */
export class LiveConversations {
  readonly #options: LiveConversationsOptions;
  readonly #live = new Map<string, LiveConversation>();
  /** Conversations that are being opened or closed. */
  readonly #moving = new Map<string, Promise<unknown>>();
  readonly #sweep: NodeJS.Timeout;
  #closed = false;

  constructor(options: LiveConversationsOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#closeIdle(), Math.max(100, options.idle / 4)).unref();
  }

  /** Creates a conversation, or opens the one with this id. The first message stores it. Rejects with `StoreError`. */
  async create(id?: string, program?: AnswerStyle): Promise<LiveConversation> {
    const { host } = this.#options;
    if (id === undefined) return this.#keep(await host.newSession(undefined, program));
    return this.#had(id, () => host.newSession(id, program));
  }

  /** Opens a closed conversation, or returns the open one. Rejects with `StoreError`, for example `locked`. */
  open(id: string): Promise<LiveConversation> {
    return this.#had(id, () => this.#options.host.openById(id));
  }

  async #had(id: string, open: () => Promise<Session>): Promise<LiveConversation> {
    for (let moving = this.#moving.get(id); moving; moving = this.#moving.get(id)) await moving.catch(() => {});
    const live = this.#live.get(id);
    if (live) return live;
    const opening = open().then((session) => this.#keep(session));
    this.#move(id, opening);
    return opening;
  }

  /** The open conversation with this id, if there is one in this process. */
  ifOpen(id: string): LiveConversation | undefined {
    return this.#live.get(id);
  }

  /** Lists conversations, the last written first. `programs` includes those that programs created. Rejects with `StoreError`. */
  async list({
    programs = true,
    ...query
  }: ListQuery & { readonly programs?: boolean } = {}): Promise<ListedConversation[]> {
    const { host, elsewhere } = this.#options;
    const listing = programs ? host.store.list(query) : listForUsers(host.store, query);
    const [summaries, others] = await Promise.all([listing, elsewhere?.()]);
    return summaries.map((summary) => this.#listed(summary, others?.get(summary.id)));
  }

  /** Searches the messages of all conversations. `programs` includes those that programs created. Rejects with `StoreError`. */
  search(
    query: string,
    { programs, ...options }: SearchOptions & { readonly programs: boolean },
  ): Promise<SearchHit[]> {
    const { store } = this.#options.host;
    return programs ? store.search(query, options) : searchForUsers(store, query, options);
  }

  /** The open conversations, in the order in which they were opened. */
  get allOpen(): readonly LiveConversation[] {
    return [...this.#live.values()];
  }

  /** Deletes a conversation for good and interrupts its runs. Rejects with `StoreError`. */
  async remove(id: string): Promise<void> {
    const stored = await this.#isStored(id);
    const live = this.#live.get(id);
    if (live) await this.#close(live, "removed");
    if (stored || !live) await this.#options.host.store.remove(id);
    this.#options.unread.forget(id);
    this.#options.changed(id);
  }

  /** Closes a conversation if it is open, and interrupts its runs. Rejects when their ends cannot be written. */
  async letGo(id: string): Promise<void> {
    for (let moving = this.#moving.get(id); moving; moving = this.#moving.get(id)) await moving.catch(() => {});
    const live = this.#live.get(id);
    if (live) await this.#close(live);
  }

  /** Reports a conversation that was added in another way, for example by an import. */
  appeared(id: string): void {
    this.#options.changed(id);
  }

  /** Marks a conversation as seen by the user. */
  seen(id: string): void {
    if (this.#options.unread.seen(id)) this.#options.changed(id);
  }

  /** Interrupts all runs and closes all conversations. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    await Promise.allSettled(this.#moving.values());
    await Promise.all([...this.#live.values()].map((live) => this.#close(live)));
  }

  async #isStored(id: string): Promise<boolean> {
    return (await this.#options.host.store.list()).some((known) => known.id === id);
  }

  async #keep(session: Session): Promise<LiveConversation> {
    if (this.#closed) {
      await session.close();
      throw new ServerStopping();
    }
    const { id } = session;
    const { unread, changed } = this.#options;
    const live = new LiveConversation(session, {
      changed: () => changed(id),
      turnEnded: (reason) => unread.turnEnded(id, reason),
      narrowed: () => narrowedRules(session.allowed),
      ended: () => {
        if (this.#live.get(id) === live) this.#live.delete(id);
        // Close a session with a failed log, to allow opening it again. Its clients know what could not be written.
        if (!this.#moving.has(id)) this.#move(id, session.close());
        changed(id);
      },
    });
    this.#live.set(id, live);
    // The last report of the node that had the conversation open may be out of date.
    changed(id);
    return live;
  }

  #move(id: string, moving: Promise<unknown>): void {
    this.#moving.set(id, moving);
    const moved = () => {
      if (this.#moving.get(id) === moving) this.#moving.delete(id);
    };
    moving.then(moved, moved);
  }

  #close(live: LiveConversation, reason?: "removed"): Promise<void> {
    const closing = live.close(reason);
    this.#move(live.session.id, closing);
    return closing;
  }

  #closeIdle(): void {
    for (const live of this.#live.values()) {
      if (live.idle <= this.#options.idle) continue;
      // The clients know what could not be written. The next client opens the conversation again.
      this.#close(live).catch(() => {});
    }
  }

  #listed({ questions = [], ...summary }: ConversationSummary, elsewhere?: ConversationActivity): ListedConversation {
    const { running = 0, waiting = 0 } = elsewhere ?? {};
    // A node that took over a conversation may not have reported its questions; the store knows those that outlive a process.
    const closed = { running, waiting: Math.max(waiting, questions.length) };
    return {
      ...summary,
      ...(this.#live.get(summary.id)?.activity ?? closed),
      ...this.#options.unread.of(summary.id),
    };
  }
}

import type { Session } from "@banyan/core";
import type { ConversationSummary, ListQuery, SearchHit, SearchOptions } from "@banyan/core/stores";
import { type AnswerStyle, type Host, listForUsers, narrowedRules, searchForUsers } from "@banyan/host";
import type { ListedConversation } from "@banyan/protocol";
import { ServerStopping } from "../request/problem.ts";
import type { ConversationActivity } from "./elsewhere.ts";
import { LiveConversation } from "./live-conversation.ts";
import type { UnreadCounts } from "./unread-counts.ts";

/** Options of `LiveConversations`. */
export interface LiveConversationsOptions {
  readonly host: Pick<Host, "newSession" | "openById" | "store">;
  readonly unread: UnreadCounts;
  /** Milliseconds until an unwatched conversation without running work closes. */
  readonly idle: number;
  /** Called when a conversation's entry in the list may have changed or gone. */
  changed(conversation: string): void;
  /** Returns the activity of conversations on other nodes. Absent: there are no other nodes. */
  elsewhere?(): Promise<ReadonlyMap<string, ConversationActivity>>;
}

/** The open conversations of a server. Opens conversations on demand and closes unused ones. */
export class LiveConversations {
  readonly #options: LiveConversationsOptions;
  readonly #live = new Map<string, LiveConversation>();
  readonly #moving = new Map<string, Promise<unknown>>();
  readonly #sweep: NodeJS.Timeout;
  #closed = false;

  constructor(options: LiveConversationsOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#closeIdle(), Math.max(100, options.idle / 4)).unref();
  }

  /** Creates a conversation, or opens the one with this id. Rejects with `StoreError`. */
  async create(id?: string, program?: AnswerStyle): Promise<LiveConversation> {
    const { host } = this.#options;
    if (id === undefined) return this.#keep(await host.newSession(undefined, program));
    return this.#had(id, () => host.newSession(id, program));
  }

  /** Returns the open conversation, or opens it. Rejects with `StoreError`, for example `locked`. */
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

  ifOpen(id: string): LiveConversation | undefined {
    return this.#live.get(id);
  }

  /** Lists conversations, last written first; with `programs`, also those of programs. Rejects with `StoreError`. */
  async list({
    programs = true,
    ...query
  }: ListQuery & { readonly programs?: boolean } = {}): Promise<ListedConversation[]> {
    const { host, elsewhere } = this.#options;
    const listing = programs ? host.store.list(query) : listForUsers(host.store, query);
    const [summaries, others] = await Promise.all([listing, elsewhere?.()]);
    return summaries.map((summary) => this.#listed(summary, others?.get(summary.id)));
  }

  /** Returns the conversations with open questions, on all nodes. Rejects with `StoreError`. */
  async waiting(): Promise<string[]> {
    const { host, elsewhere } = this.#options;
    const [stored, others = new Map()] = await Promise.all([host.store.list({ waiting: true }), elsewhere?.()]);
    // The store does not know questions that end with their process.
    const asking = [...others].flatMap(([id, { waiting }]) => (waiting > 0 ? [id] : []));
    return [...new Set([...stored.flatMap(({ id, questions }) => (questions ? [id] : [])), ...asking])];
  }

  /** Searches the messages of conversations; with `programs`, also those of programs. Rejects with `StoreError`. */
  search(
    query: string,
    { programs, ...options }: SearchOptions & { readonly programs: boolean },
  ): Promise<SearchHit[]> {
    const { store } = this.#options.host;
    return programs ? store.search(query, options) : searchForUsers(store, query, options);
  }

  get allOpen(): readonly LiveConversation[] {
    return [...this.#live.values()];
  }

  /** Interrupts a conversation's runs and deletes it permanently. Rejects with `StoreError`. */
  async remove(id: string): Promise<void> {
    const stored = await this.#isStored(id);
    const live = this.#live.get(id);
    if (live) await this.#close(live, "removed");
    if (stored || !live) await this.#options.host.store.remove(id);
    this.#options.unread.forget(id);
    this.#options.changed(id);
  }

  /** Closes a conversation and interrupts its runs. Rejects if their ends cannot be written. */
  async letGo(id: string): Promise<void> {
    for (let moving = this.#moving.get(id); moving; moving = this.#moving.get(id)) await moving.catch(() => {});
    const live = this.#live.get(id);
    if (live) await this.#close(live);
  }

  /** Call when a conversation was added in another way, for example by an import. */
  appeared(id: string): void {
    this.#options.changed(id);
  }

  seen(id: string): void {
    if (this.#options.unread.seen(id)) this.#options.changed(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    await Promise.allSettled(this.#moving.values());
    await Promise.all([...this.#live.values()].map((live) => this.#close(live)));
  }

  async #isStored(id: string): Promise<boolean> {
    return (await this.#options.host.store.list({ conversations: [id] })).length > 0;
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
        // Close a session with a failed log, so that it can be opened again.
        if (!this.#moving.has(id)) this.#move(id, session.close());
        changed(id);
      },
    });
    this.#live.set(id, live);
    // The last report of the other node may be out of date.
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
      // The next client opens the conversation again.
      this.#close(live).catch(() => {});
    }
  }

  #listed({ questions = [], ...summary }: ConversationSummary, elsewhere?: ConversationActivity): ListedConversation {
    const { running = 0, waiting = 0 } = elsewhere ?? {};
    // After a takeover, a node may not have reported its questions, but the store knows them.
    const closed = { running, waiting: Math.max(waiting, questions.length) };
    return {
      ...summary,
      ...(this.#live.get(summary.id)?.activity ?? closed),
      ...this.#options.unread.of(summary.id),
    };
  }
}

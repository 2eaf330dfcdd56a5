import type { Session } from "@banyan/core";
import type { ConversationSummary, ListQuery, SearchHit, SearchOptions } from "@banyan/core/stores";
import { type Host, listForUsers, narrowedRules, type ProgramAnswers, searchForUsers } from "@banyan/host";
import type { ListedConversation } from "@banyan/protocol";
import type { Activity } from "../elsewhere.ts";
import { LiveConversation } from "./live-conversation.ts";
import type { UnreadCounts } from "./unread.ts";

/** Where conversations are, and how long one that nobody needs stays open. */
export interface LiveConversationsOptions {
  readonly host: Pick<Host, "newSession" | "openById" | "store">;
  readonly unread: UnreadCounts;
  /** Milliseconds for which a conversation stays open that nobody watches and nothing works in. */
  readonly idle: number;
  /** What the list says of a conversation may have changed; it may be gone. */
  changed(conversation: string): void;
  /** What goes on in conversations that are open on other nodes; there are none when absent. */
  elsewhere?(): Promise<ReadonlyMap<string, Activity>>;
}

/**
 * The conversations of a server: opened when somebody wants them, kept open while somebody watches or something works in
 * them, and closed again, so that other programs can have them.
 */
export class LiveConversations {
  readonly #options: LiveConversationsOptions;
  readonly #live = new Map<string, LiveConversation>();
  /** Those that are being opened or closed. */
  readonly #moving = new Map<string, Promise<unknown>>();
  readonly #sweep: NodeJS.Timeout;
  #closed = false;

  constructor(options: LiveConversationsOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#closeIdle(), Math.max(100, options.idle / 4)).unref();
  }

  /** Begins a conversation, unless there is one of this id. It is stored with its first message. Rejects with `StoreError`. */
  async create(id?: string, program?: ProgramAnswers): Promise<LiveConversation> {
    const { host } = this.#options;
    if (id === undefined) return this.#keep(await host.newSession(undefined, program));
    return this.#had(id, () => host.newSession(id, program));
  }

  /** The conversation of this id, opened if it is not. Rejects with `StoreError`, as with `locked`. */
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

  /** The conversation of this id, if it is open here. */
  ifOpen(id: string): LiveConversation | undefined {
    return this.#live.get(id);
  }

  /** The last written first; with `programs`, those too that programs began. Rejects with `StoreError`. */
  async list({
    programs = true,
    ...query
  }: ListQuery & { readonly programs?: boolean } = {}): Promise<ListedConversation[]> {
    const { host, elsewhere } = this.#options;
    const listing = programs ? host.store.list(query) : listForUsers(host.store, query);
    const [summaries, others] = await Promise.all([listing, elsewhere?.()]);
    return summaries.map((summary) => this.#listed(summary, others?.get(summary.id)));
  }

  /** Messages of all conversations; with `programs`, of those too that programs began. Rejects with `StoreError`. */
  search(
    query: string,
    { programs, ...options }: SearchOptions & { readonly programs: boolean },
  ): Promise<SearchHit[]> {
    const { store } = this.#options.host;
    return programs ? store.search(query, options) : searchForUsers(store, query, options);
  }

  /** Those that are open, in the order of their opening. */
  get allOpen(): readonly LiveConversation[] {
    return [...this.#live.values()];
  }

  /** Removes a conversation for good; what runs in it is interrupted. Rejects with `StoreError`. */
  async remove(id: string): Promise<void> {
    const stored = await this.#isStored(id);
    const live = this.#live.get(id);
    if (live) await this.#close(live, "removed");
    if (stored || !live) await this.#options.host.store.remove(id);
    this.#options.unread.forget(id);
    this.#options.changed(id);
  }

  /** Closes a conversation, if it is open; what runs in it is interrupted. Rejects when that could not be written. */
  async letGo(id: string): Promise<void> {
    for (let moving = this.#moving.get(id); moving; moving = this.#moving.get(id)) await moving.catch(() => {});
    const live = this.#live.get(id);
    if (live) await this.#close(live);
  }

  /** A conversation has come by another way: brought in, say. */
  appeared(id: string): void {
    this.#options.changed(id);
  }

  /** A person has looked at a conversation. */
  seen(id: string): void {
    if (this.#options.unread.seen(id)) this.#options.changed(id);
  }

  /** Interrupts everything that runs, and closes everything. */
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
        // One whose log failed is given back, so that it can be opened anew. What it could not write its clients were told.
        if (!this.#moving.has(id)) this.#move(id, session.close());
        changed(id);
      },
    });
    this.#live.set(id, live);
    // What the node that had it open last told of it may be out of date.
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
      // What it could not write it has told its clients; it is opened anew when somebody wants it.
      this.#close(live).catch(() => {});
    }
  }

  #listed({ questions = [], ...summary }: ConversationSummary, elsewhere?: Activity): ListedConversation {
    const { running = 0, waiting = 0 } = elsewhere ?? {};
    // A node that took a conversation over may not have reported its questions; the store knows those that outlive a process.
    const closed = { running, waiting: Math.max(waiting, questions.length) };
    return {
      ...summary,
      ...(this.#live.get(summary.id)?.activity ?? closed),
      ...this.#options.unread.of(summary.id),
    };
  }
}

/** The server ends: nothing begins any more. */
export class ServerStopping extends Error {
  override readonly name = "ServerStopping";

  constructor() {
    super("The server is stopping. Connect again later.");
  }
}

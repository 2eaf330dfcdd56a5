import {
  type ConversationState,
  createId,
  type Event,
  emptyConversation,
  reduce,
  Session,
  type Store,
  StoreError,
} from "@banyan/core";
import { endOfImport } from "@banyan/core/hosts";
import type { ConversationSummary, ListQuery, LogView, SearchHit, SearchOptions } from "@banyan/core/stores";
import { sqliteStore } from "@banyan/store/sqlite";
import type { ReadConversation } from "../exchange/index.ts";
import { directories } from "../places/directories.ts";
import { withRedactedTitle, withRedactedTitles } from "../redaction/redacted-titles.ts";
import { type Redact, redactor } from "../redaction/redactor.ts";
import { findConversation } from "./conversations.ts";

/** A conversation as its log has it, with a title without secrets. */
export interface StoredConversation {
  readonly events: readonly Event[];
  /** The events, reduced. */
  readonly state: ConversationState;
  /** What of the log could not be read, in words. */
  readonly damage: readonly string[];
  /** Whether somebody has it open. */
  readonly isOpen: boolean;
}

/** Where the conversations are: in the place that belongs to an environment, or in a store that is open already. */
export type ConversationPlace =
  | { readonly env: Readonly<Record<string, string | undefined>>; readonly home: string }
  | { readonly store: Store; readonly redact: Redact };

/** The conversations on this machine, without an agent: to be listed, read, searched, brought in and removed. */
export class ConversationDirectory implements AsyncDisposable {
  readonly #store: Store;
  readonly #redact: Redact;
  /** Whether the store was opened here, and is to be closed here. */
  readonly #own: boolean;

  constructor(place: ConversationPlace) {
    this.#own = !("store" in place);
    this.#redact = "store" in place ? place.redact : redactor({ env: place.env });
    const store =
      "store" in place
        ? place.store
        : sqliteStore({ directory: directories(place.env, place.home).data, program: "banyan" });
    this.#store = withRedactedTitles(store, this.#redact);
  }

  /** The last written first. Rejects with `StoreError`. */
  list(query?: ListQuery): Promise<ConversationSummary[]> {
    return this.#store.list(query);
  }

  /** The conversation that a person means by an id, the beginning of one, or a title. Rejects with `ConversationError`. */
  find(named: string): Promise<ConversationSummary> {
    return findConversation(this.#store, named);
  }

  /** A conversation as it is now, whoever writes to it. Rejects with `StoreError`. */
  async read(id: string): Promise<StoredConversation> {
    const log = await this.#view(id);
    try {
      const state = emptyConversation(id);
      const events: Event[] = [];
      for await (const batch of log.read()) {
        for (const stored of batch) {
          const event = withRedactedTitle(stored, this.#redact);
          events.push(event);
          reduce(state, event);
        }
      }
      return { events, state, damage: log.damage ?? [], isOpen: log.isOpen ?? false };
    } finally {
      await log.close();
    }
  }

  /** Opens a conversation for writing. Rejects with `StoreError`, as with `locked` while it is open anywhere. */
  open(id: string): Promise<Session> {
    return Session.open(this.#store, id);
  }

  /** Of a damaged file, more can be read by who may mend it. */
  async #view(id: string): Promise<LogView> {
    try {
      return await this.#store.view(id);
    } catch (error) {
      if (error instanceof StoreError && error.code === "damaged") return this.#store.open(id);
      throw error;
    }
  }

  /** Messages of all conversations and branches, the newest first. Rejects with `StoreError`. */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]> {
    return this.#store.search(query, options);
  }

  /**
   * Brings in an exported conversation. It keeps its id, unless there is one of that id here: then it is a second one,
   * with an id of its own. It brings facts, and no rights: what it left open has ended, what it allowed is asked about
   * (S17). Returns the id. All of it is there, or nothing. Rejects with `StoreError`.
   */
  async bringIn({ id, events }: ReadConversation): Promise<string> {
    const taken = (await this.#store.list()).some((known) => known.id === id);
    const own = taken ? createId() : id;
    const log = await this.#store.open(own, { create: true });
    try {
      const rewritten = events.map((event, index): Event => {
        // Another writer's log: its numbers begin anew, so that no cursor of the old one is taken for one of this.
        const placed = { ...withRedactedTitle(event, this.#redact), seq: index + 1, epoch: log.epoch };
        return placed.type === "conversation.created" ? { ...placed, id: own } : placed;
      });
      const state = emptyConversation(own);
      for (const event of rewritten) reduce(state, event);
      // Lists, and what grows old, go by when somebody wrote to it last.
      const at = events.at(-1)?.at ?? Date.now();
      const ends = endOfImport(state).map((body, index): Event => {
        return { ...body, at, seq: rewritten.length + index + 1, epoch: log.epoch };
      });
      await log.append([...rewritten, ...ends], { durable: true });
    } finally {
      await log.close();
    }
    return own;
  }

  /** Removes a conversation for good. Rejects with `StoreError`, as with `locked` while it is open anywhere. */
  remove(id: string): Promise<void> {
    return this.#store.remove(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#own) await this.#store.close();
  }
}

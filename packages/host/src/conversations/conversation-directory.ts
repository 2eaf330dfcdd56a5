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

/** A stored conversation, with its state. Its title has no secrets. */
export interface StoredConversation {
  readonly events: readonly Event[];
  readonly state: ConversationState;
  /** A sentence for each unreadable part of the log. */
  readonly damage: readonly string[];
  /** True if a process has the conversation open. */
  readonly isOpen: boolean;
}

/** The store of the conversations: the default store of an environment, or a store that is already open. */
export type ConversationStorage =
  | { readonly env: Readonly<Record<string, string | undefined>>; readonly home: string }
  | { readonly store: Store; readonly redact: Redact };

/**
 * Lists, reads, searches, imports and removes the conversations on this machine. Needs no agent.
 * @example
 * await using conversations = new ConversationDirectory({ env: process.env, home: homedir() });
 * for (const { id, title } of await conversations.list({ limit: 10 })) console.log(id, title);
 */
export class ConversationDirectory implements AsyncDisposable {
  readonly #store: Store;
  readonly #redact: Redact;
  readonly #own: boolean;

  constructor(storage: ConversationStorage) {
    this.#own = !("store" in storage);
    this.#redact = "store" in storage ? storage.redact : redactor({ env: storage.env });
    const store =
      "store" in storage
        ? storage.store
        : sqliteStore({ directory: directories(storage.env, storage.home).data, program: "banyan" });
    this.#store = withRedactedTitles(store, this.#redact);
  }

  /** Lists conversations, last written first. Rejects with `StoreError`. */
  list(query?: ListQuery): Promise<ConversationSummary[]> {
    return this.#store.list(query);
  }

  /** Finds a conversation by its id, the beginning of its id, or its title. Rejects with `ConversationError`. */
  find(named: string): Promise<ConversationSummary> {
    return findConversation(this.#store, named);
  }

  /** Reads a conversation's state, also while a process writes to it. Rejects with `StoreError`. */
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

  /** Opens a conversation for writing. Rejects with `StoreError`, `locked` while another process has it open. */
  open(id: string): Promise<Session> {
    return Session.open(this.#store, id);
  }

  /** Opening a damaged file for writing repairs it and shows more. */
  async #view(id: string): Promise<LogView> {
    try {
      return await this.#store.view(id);
    } catch (error) {
      if (error instanceof StoreError && error.code === "damaged") return this.#store.open(id);
      throw error;
    }
  }

  /** Searches the messages of all conversations and branches, newest first. Rejects with `StoreError`. */
  search(query: string, options?: SearchOptions): Promise<SearchHit[]> {
    return this.#store.search(query, options);
  }

  /**
   * Imports an exported conversation, completely or not at all, and returns its id: a new one if the id exists here.
   * The import brings no rights. Open work counts as ended, and allowed calls need approval again (S17). Rejects with
   * `StoreError`.
   */
  async bringIn({ id, events }: ReadConversation): Promise<string> {
    const taken = await this.#store.list({ conversations: [id] });
    const own = taken.length > 0 ? createId() : id;
    const log = await this.#store.open(own, { create: true });
    try {
      const rewritten = events.map((event, index): Event => {
        // Cursors of the old log must not be valid for this one.
        const placed = { ...withRedactedTitle(event, this.#redact), seq: index + 1, epoch: log.epoch };
        return placed.type === "conversation.created" ? { ...placed, id: own } : placed;
      });
      const state = emptyConversation(own);
      for (const event of rewritten) reduce(state, event);
      // Lists and retention use the time of the last event, so the import adds no newer time.
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

  /** Removes a conversation permanently. Rejects with `StoreError`, `locked` while a process has it open. */
  remove(id: string): Promise<void> {
    return this.#store.remove(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#own) await this.#store.close();
  }
}

import { type Event, isId, type Store } from "@banyan/core";
import {
  type ConversationSummary,
  type ListQuery,
  type Log,
  type LogView,
  noRights,
  type OpenLogOptions,
  type Rights,
  type RightsPlace,
  type SearchHit,
  type SearchOptions,
} from "@banyan/core/stores";
import {
  checkListQuery,
  checkOpenOptions,
  checkSearch,
  checkSequence,
  logClosed,
  notFound,
  openHere,
  overtakenError,
  storeClosed,
} from "../log/refusal.ts";
import { emptySummary, GrowingSummary, listPage } from "../log/summary.ts";
import { searchLogs } from "../search/search-logs.ts";

/**
 * Creates a store that keeps conversations in memory, for tests and temporary chats. Appends complete at once. Events
 * are not copied, so the caller must not change them afterwards.
 * @example await Session.open(memoryStore());
 */
export function memoryStore(): Store {
  return new MemoryStore();
}

interface ConversationInMemory {
  readonly id: string;
  readonly events: Event[];
  readonly summary: GrowingSummary;
  rights: Rights;
  epoch: number;
  open: boolean;
}

class MemoryStore implements Store {
  readonly #conversations = new Map<string, ConversationInMemory>();
  readonly #logs = new Set<MemoryLog>();
  #closed = false;

  async open(id: string, options?: OpenLogOptions): Promise<Log> {
    if (this.#closed) throw storeClosed();
    checkOpenOptions(options);
    let conversation = this.#conversations.get(id);
    if (!conversation) {
      if (!options?.create || !isId(id)) throw notFound(id);
      conversation = {
        id,
        events: [],
        summary: new GrowingSummary(emptySummary(id)),
        rights: noRights,
        epoch: 0,
        open: false,
      };
      this.#conversations.set(id, conversation);
    }
    if (conversation.open && !options?.take) throw openHere(id);
    const log = new MemoryLog(conversation, () => this.#logs.delete(log));
    this.#logs.add(log);
    return log;
  }

  async view(id: string): Promise<LogView> {
    if (this.#closed) throw storeClosed();
    const conversation = this.#conversations.get(id);
    if (!conversation) throw notFound(id);
    const seq = conversation.events.length;
    return {
      seq,
      isOpen: conversation.open,
      read: (after = 0) => batches(conversation.events, after, seq),
      close: async () => {},
    };
  }

  async list(query: ListQuery = {}): Promise<ConversationSummary[]> {
    if (this.#closed) throw storeClosed();
    checkListQuery(query);
    const named = query.conversations && new Set(query.conversations);
    const some = named ? [...named].flatMap((id) => this.#conversations.get(id) ?? []) : this.#conversations.values();
    const summaries = Array.from(some)
      .filter(({ events }) => events.length > 0)
      .map(({ summary }) => summary.listed);
    return listPage(summaries, query);
  }

  async search(query: string, options?: SearchOptions): Promise<SearchHit[]> {
    if (this.#closed) throw storeClosed();
    checkSearch(query, options);
    const logs = this.#conversations.values().map(({ summary, events }) => ({ summary: summary.listed, events }));
    return searchLogs(logs, query, options);
  }

  async remove(id: string): Promise<void> {
    if (this.#closed) throw storeClosed();
    const conversation = this.#conversations.get(id);
    if (!conversation) throw notFound(id);
    if (conversation.open) throw openHere(id);
    this.#conversations.delete(id);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const log of this.#logs) await log.close();
  }
}

/** Maximum events of a batch. */
const BATCH = 1000;

async function* batches(
  events: readonly Event[],
  after: number,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Event[]> {
  for (let from = after; from < Math.min(to, events.length); ) {
    const batch = events.slice(from, Math.min(to, from + BATCH));
    from += batch.length;
    yield batch;
  }
}

class MemoryLog implements Log {
  readonly epoch: number;
  readonly rights: RightsPlace = {
    read: () => this.#conversation.rights,
    write: (rights) => {
      this.#conversation.rights = rights;
    },
  };
  readonly #conversation: ConversationInMemory;
  readonly #onClose: () => void;
  #closed = false;

  constructor(conversation: ConversationInMemory, onClose: () => void) {
    this.#conversation = conversation;
    this.#onClose = onClose;
    this.epoch = ++conversation.epoch;
    conversation.open = true;
  }

  get seq(): number {
    return this.#conversation.events.length;
  }

  async *read(after = 0): AsyncGenerator<readonly Event[]> {
    const { id, events } = this.#conversation;
    for await (const batch of batches(events, after)) {
      if (this.#closed) throw logClosed(id);
      yield batch;
    }
  }

  append(events: readonly Event[]): void {
    const { id, events: kept, summary, epoch } = this.#conversation;
    if (this.#closed) throw logClosed(id);
    if (epoch !== this.epoch) throw overtakenError(id);
    checkSequence(id, kept.length, events);
    kept.push(...events);
    summary.add(events);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#conversation.epoch === this.epoch) this.#conversation.open = false;
    this.#onClose();
  }
}

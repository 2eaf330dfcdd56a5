import { type Event, isId, OptionError, type Store } from "@banyan/core";
import type {
  ConversationSummary,
  ListQuery,
  Log,
  LogView,
  OpenLogOptions,
  SearchHit,
  SearchOptions,
} from "@banyan/core/stores";
import { questionsFrom } from "../log/questions-text.ts";
import { checkListQuery, checkOpenOptions, checkSearch, notFound, openHere, storeClosed } from "../log/refusal.ts";
import { listPage, questionsIn } from "../log/summary.ts";
import { type SearchedLog, searchLogs } from "../search/search-logs.ts";
import { SAYING } from "../search/searchable-event.ts";
import { type DurableStorage, ObjectDatabase } from "./database.ts";
import { ObjectEventReader, storedEvents } from "./events.ts";
import { DurableObjectLog, type ObjectConversation } from "./log.ts";

/**
 * Creates a store in the storage of a Durable Object with SQLite (Cloudflare). Its tables begin with `banyan_`. A
 * durable append waits for the flush of the storage. A search reads the messages of all its conversations. Throws
 * `OptionError` or `StoreError` if `storage` is not the storage of such an object.
 * @example const store = durableObjectStore(ctx.storage);
 */
export function durableObjectStore(storage: DurableStorage): Store {
  if (typeof storage?.transactionSync !== "function")
    throw new OptionError("storage of durableObjectStore must be the storage of a Durable Object: ctx.storage.");
  return new DurableObjectStore(storage);
}

/** The logs that are open now, by their ids. After an eviction, no log is open. */
const OPEN = new WeakMap<DurableStorage, Map<string, DurableObjectLog>>();

class DurableObjectStore implements Store {
  readonly #database: ObjectDatabase;
  readonly #open: Map<string, DurableObjectLog>;
  readonly #own = new Set<DurableObjectLog>();
  #closed = false;

  constructor(storage: DurableStorage) {
    this.#database = new ObjectDatabase(storage);
    this.#open = OPEN.get(storage) ?? new Map();
    OPEN.set(storage, this.#open);
  }

  async open(id: string, options?: OpenLogOptions): Promise<Log> {
    this.#check();
    checkOpenOptions(options);
    if (!isId(id) || (!options?.create && !this.#find(id))) throw notFound(id);
    if (this.#open.has(id) && !options?.take) throw openHere(id);
    this.#database.run(
      "INSERT INTO banyan_conversations (id, epoch) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1",
      id,
    );
    const log = new DurableObjectLog(this.#database, this.#existing(id), () => {
      this.#own.delete(log);
      if (this.#open.get(id) === log) this.#open.delete(id);
    });
    this.#open.set(id, log);
    this.#own.add(log);
    return log;
  }

  async view(id: string): Promise<LogView> {
    this.#check();
    const { number, seq } = this.#existing(id);
    const reader = new ObjectEventReader(this.#database, { number, id }, () => seq);
    return {
      seq,
      isOpen: this.#open.has(id),
      get damage() {
        return reader.damage;
      },
      read: (after) => reader.read(after),
      close: async () => {},
    };
  }

  async list(query: ListQuery = {}): Promise<ConversationSummary[]> {
    this.#check();
    checkListQuery(query);
    const summaries = this.#stored().map(({ summary, questions }) => ({ ...summary, ...questionsIn(questions) }));
    return listPage(summaries, query);
  }

  async search(query: string, options?: SearchOptions): Promise<SearchHit[]> {
    this.#check();
    checkSearch(query, options);
    return searchLogs(this.#searched(), query, options);
  }

  async remove(id: string): Promise<void> {
    this.#check();
    const { number } = this.#existing(id);
    if (this.#open.has(id)) throw openHere(id);
    this.#database.transaction(() => {
      this.#database.run("DELETE FROM banyan_pieces WHERE conversation = ?", number);
      this.#database.run("DELETE FROM banyan_events WHERE conversation = ?", number);
      this.#database.run("DELETE FROM banyan_conversations WHERE number = ?", number);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const log of this.#own) await log.close();
  }

  #check(): void {
    if (this.#closed) throw storeClosed();
  }

  /** Returns all conversations with events. */
  #stored(): readonly ObjectConversation[] {
    return this.#database.run(`${CONVERSATIONS} WHERE e.seq IS NOT NULL`).map(objectConversation);
  }

  #find(id: string): ObjectConversation | undefined {
    return this.#database.run(`${CONVERSATIONS} WHERE c.id = ?`, id).map(objectConversation)[0];
  }

  #existing(id: string): ObjectConversation {
    const found = this.#find(id);
    if (!found) throw notFound(id);
    return found;
  }

  *#searched(): Generator<SearchedLog> {
    for (const { number, seq, summary } of this.#stored())
      yield { summary, events: sayingEvents(this.#database, number, seq) };
  }
}

function* sayingEvents(database: ObjectDatabase, conversation: number, to: number): Generator<Event> {
  const only = `type IN (${SAYING.map((type) => `'${type}'`).join()})`;
  for (const { event } of storedEvents(database, conversation, { after: 0, to, only })) if (event) yield event;
}

const CONVERSATIONS = `
  SELECT c.number, c.epoch, c.id, c.title, c.labels, c.created, c.questions, e.seq, e.at
  FROM banyan_conversations AS c LEFT JOIN banyan_events AS e
    ON e.conversation = c.number AND e.seq = (SELECT max(seq) FROM banyan_events WHERE conversation = c.number)`;

function objectConversation(row: readonly unknown[]): ObjectConversation {
  const [number, epoch, id, title, labels, created, questions, seq, at] = row;
  return {
    number: Number(number),
    epoch: Number(epoch),
    seq: Number(seq ?? 0),
    summary: {
      id: String(id),
      title: String(title),
      labels: JSON.parse(String(labels)),
      createdAt: Number(created),
      updatedAt: Number(at ?? 0),
    },
    questions: questionsFrom(questions),
  };
}

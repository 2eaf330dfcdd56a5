import { StoreError } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";

/** The storage of a Durable Object with SQLite: `ctx.storage`. See {@link durableObjectStore}. */
export interface DurableStorage {
  readonly sql: {
    exec(query: string, ...values: (string | number)[]): { raw(): Iterable<readonly unknown[]> };
  };
  transactionSync<Result>(body: () => Result): Result;
  /** Resolves once all writes so far survive a power cut. */
  sync(): Promise<void>;
}

/**
 * Each conversation is a row, its events and the parts of long events are others. `title`, `labels`, `created` and
 * `questions` are those of lists. Without row ids, an event is one written row.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS banyan_conversations (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL DEFAULT 0,
    title TEXT NOT NULL DEFAULT '',
    labels TEXT NOT NULL DEFAULT '{}',
    created INTEGER NOT NULL DEFAULT 0,
    questions TEXT NOT NULL DEFAULT '[]',
    rights TEXT NOT NULL DEFAULT '{}'
  ) STRICT`,
  `CREATE TABLE IF NOT EXISTS banyan_events (
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (conversation, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS banyan_pieces (
    conversation INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, seq, piece)
  ) STRICT, WITHOUT ROWID`,
];

/** The tables of Banyan in the storage of a Durable Object. All methods throw `StoreError`. */
export class ObjectDatabase {
  readonly #storage: DurableStorage;

  /** Creates missing tables. */
  constructor(storage: DurableStorage) {
    this.#storage = storage;
    for (const table of SCHEMA) this.run(table);
  }

  /** Runs a statement at once, and returns its rows. */
  run(query: string, ...values: (string | number)[]): (readonly unknown[])[] {
    return Array.from(this.rows(query, ...values));
  }

  /** Yields the rows of a query one by one, for large results. Do not wait between two rows. */
  *rows(query: string, ...values: (string | number)[]): Generator<readonly unknown[]> {
    try {
      yield* this.#storage.sql.exec(query, ...values).raw();
    } catch (error) {
      throw storageError(error);
    }
  }

  /** Runs `body` in a transaction, which an error rolls back. */
  transaction<Result>(body: () => Result): Result {
    try {
      return this.#storage.transactionSync(body);
    } catch (error) {
      throw storageError(error);
    }
  }

  async flush(): Promise<void> {
    await this.#storage.sync().catch((error: unknown) => {
      throw storageError(error);
    });
  }
}

function storageError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const why = errorMessage(error);
  if (why.includes("SQLITE_FULL")) {
    return new StoreError(
      "full",
      "The storage of this Durable Object is full; remove conversations and try again. Stored data is safe.",
      { cause: error },
    );
  }
  return new StoreError(
    "unusable",
    `The storage of this Durable Object cannot be used (${why}); see the limits of Durable Objects.`,
    { cause: error },
  );
}

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { inMemoryTransaction, openMemoryFile } from "./database.ts";
import { MemoryError, memoryError } from "./error.ts";
import { findEntries, type MemoryQuery } from "./find.ts";
import { Finder } from "./finder.ts";

/** Maximum entries for a search in this thread, which is then faster than passing the query on. */
const SMALL = 500;

/** A memory's file, opened on first use and created by the first write. Rejects with `MemoryError`. */
export class MemoryFile {
  readonly #file: string;
  readonly #finder: Finder;
  #database: DatabaseSync | undefined;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
    this.#finder = new Finder(file);
  }

  /** Reads from the file; without a file, resolves with `nothing`. Rejects with the reason of the signal too. */
  async read<T>(
    nothing: T,
    body: (database: DatabaseSync) => T | Promise<T>,
    signal?: AbortSignal | undefined,
  ): Promise<T> {
    try {
      if (!this.#database && !this.#closed && !statSync(this.#file, { throwIfNoEntry: false })) return nothing;
      return await body(this.#open());
    } catch (error) {
      signal?.throwIfAborted();
      throw memoryError(error, this.#file);
    }
  }

  /** Runs `body` in a transaction, which an error rolls back. */
  async write<T>(body: (database: DatabaseSync) => T): Promise<T> {
    try {
      const database = this.#open();
      return inMemoryTransaction(database, () => body(database));
    } catch (error) {
      throw memoryError(error, this.#file);
    }
  }

  /** Removes entries so that their text is nowhere in the file. Returns their number. */
  async forget(body: (database: DatabaseSync) => number): Promise<number> {
    return this.read(0, (database) => {
      const count = inMemoryTransaction(database, () => body(database));
      // Also clear the write-ahead log; if another process reads, the next checkpoint does this.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return count;
    });
  }

  /** Call inside `read`. Rejects with errors of SQLite. */
  async find(database: DatabaseSync, question: MemoryQuery, signal: AbortSignal): Promise<number[]> {
    const newest = Number(database.prepare("SELECT max(id) AS id FROM entries").get()?.id);
    return newest <= SMALL ? findEntries(database, question) : this.#finder.find(question, signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#finder.close();
    this.#database?.close();
    this.#database = undefined;
  }

  #open(): DatabaseSync {
    if (this.#closed) throw new MemoryError("unusable", "The memory is closed; make a new one.");
    this.#database ??= openMemoryFile(this.#file);
    return this.#database;
  }
}

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { inMemoryTransaction, openMemoryFile } from "./database.ts";
import { MemoryError, memoryError } from "./error.ts";
import { findEntries, type MemoryQuery } from "./find.ts";
import { Finder } from "./finder.ts";

/** Maximum entries for a search in this thread. For more entries, the search thread is faster. */
const SMALL = 500;

/** The file of a memory, opened on first use and created by the first write. Methods reject with `MemoryError`. */
export class MemoryFile {
  readonly #file: string;
  readonly #finder: Finder;
  #database: DatabaseSync | undefined;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
    this.#finder = new Finder(file);
  }

  /** Reads from the file. Resolves with `nothing` if there is no file. Rejects with the reason of the signal too. */
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

  async write<T>(body: (database: DatabaseSync) => T): Promise<T> {
    try {
      const database = this.#open();
      return inMemoryTransaction(database, () => body(database));
    } catch (error) {
      throw memoryError(error, this.#file);
    }
  }

  /** Removes entries so that their text is no longer in the file. Returns their number. */
  async forget(body: (database: DatabaseSync) => number): Promise<number> {
    return this.read(0, (database) => {
      const count = inMemoryTransaction(database, () => body(database));
      // If another process is reading, the next checkpoint clears the log.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return count;
    });
  }

  /** Call inside `read`. */
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
    if (this.#closed) throw new MemoryError("unusable", "The memory is closed; create a new memory.");
    this.#database ??= openMemoryFile(this.#file);
    return this.#database;
  }
}

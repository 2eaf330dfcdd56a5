import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { openDatabase, transaction } from "./database.ts";
import { MemoryError, memoryError } from "./error.ts";
import { find, type Question } from "./find.ts";
import { Finder } from "./finder.ts";

/** Entries up to which a file is looked through in this thread: that takes less than the way to another. */
const SMALL = 500;

/** A memory's file, opened when it is first needed and made when something is first written. Rejects with `MemoryError`. */
export class MemoryFile {
  readonly #file: string;
  readonly #finder: Finder;
  #database: DatabaseSync | undefined;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
    this.#finder = new Finder(file);
  }

  /** Looks something up; where there is no file yet, the answer is `nothing`. Rejects with the reason of the signal too. */
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

  /** Changes the file: all that `body` does, or nothing when it throws. */
  async write<T>(body: (database: DatabaseSync) => T): Promise<T> {
    try {
      const database = this.#open();
      return transaction(database, () => body(database));
    } catch (error) {
      throw memoryError(error, this.#file);
    }
  }

  /** Takes something out, so that it is nowhere in the file any more. Returns how much that was. */
  async forget(body: (database: DatabaseSync) => number): Promise<number> {
    return this.read(0, (database) => {
      const count = transaction(database, () => body(database));
      // Nor in its write-ahead log; while another process reads, that is left to the next checkpoint.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return count;
    });
  }

  /** To be called inside `read`: rejects as SQLite throws. */
  async find(database: DatabaseSync, question: Question, signal: AbortSignal): Promise<number[]> {
    const newest = Number(database.prepare("SELECT max(id) AS id FROM entries").get()?.id);
    return newest <= SMALL ? find(database, question) : this.#finder.find(question, signal);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#finder.close();
    this.#database?.close();
    this.#database = undefined;
  }

  #open(): DatabaseSync {
    if (this.#closed) throw new MemoryError("unusable", "The memory is closed; make a new one.");
    this.#database ??= openDatabase(this.#file);
    return this.#database;
  }
}

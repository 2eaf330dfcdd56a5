import { statSync } from "node:fs";
import type { Event, LogView } from "@banyan/core";
import { notFound } from "../refusal.ts";
import { type ReadStatements, readStatements } from "./connection.ts";
import { reading } from "./database.ts";
import { storeError } from "./error.ts";
import { EventReader, type ReadableFile } from "./event-reader.ts";

/**
 * A conversation's file for whoever only looks. It is open while a batch is read and no longer: so nothing of it is in
 * the way of its writer, and no files are left beside it.
 */
export class SqliteView implements LogView {
  readonly seq: number;
  readonly #path: string;
  readonly #reader: EventReader;
  #reading: ReadStatements | undefined;

  /** Throws `StoreError`. */
  constructor(path: string, id: string) {
    if (!statSync(path, { throwIfNoEntry: false })) throw notFound(id);
    this.#path = path;
    this.#reader = new EventReader(this.#file());
    this.seq = this.#look((reader) => reader.last().seq);
  }

  get damage(): readonly string[] {
    return this.#reader.damage;
  }

  async *read(after = 0): AsyncGenerator<readonly Event[]> {
    for (let from = after; from < this.seq; ) {
      const batch = this.#look((reader) => reader.batch(from, this.seq));
      from = batch.end;
      if (batch.events.length > 0) yield batch.events;
    }
  }

  async close(): Promise<void> {}

  #file(): ReadableFile {
    const statements = () => {
      if (!this.#reading) throw new Error(`${this.#path} is not open.`);
      return this.#reading;
    };
    return {
      path: this.#path,
      get reading() {
        return statements();
      },
    };
  }

  #look<T>(body: (reader: EventReader) => T): T {
    try {
      return reading(this.#path, (database) => {
        this.#reading = readStatements(database);
        return body(this.#reader);
      });
    } catch (error) {
      throw storeError(error, this.#path);
    } finally {
      this.#reading = undefined;
    }
  }
}

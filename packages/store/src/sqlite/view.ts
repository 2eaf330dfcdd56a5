import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { Event } from "@banyan/core";
import type { LogView } from "@banyan/core/stores";
import { notFound } from "../log/refusal.ts";
import { type ReadStatements, readStatements } from "./connection.ts";
import { lostEvents } from "./conversation-schema.ts";
import { readBesideWriter } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { EventReader, type ReadableFile } from "./event-reader.ts";
import { type FileOwner, ownerFrom } from "./owner.ts";

/** A read-only view of a conversation's file. Opens the file for each batch of events. Never blocks the writer. */
export class SqliteView implements LogView {
  readonly seq: number;
  readonly isOpen: boolean;
  readonly #path: string;
  readonly #reader: EventReader;
  #reading: ReadStatements | undefined;

  /** `holds`: whether the last writer still has the file. Throws a `StoreError`. */
  constructor(path: string, id: string, holds: (last: FileOwner) => boolean) {
    if (!statSync(path, { throwIfNoEntry: false })) throw notFound(id);
    this.#path = path;
    this.#reader = new EventReader(this.#file(), this.#known(path));
    this.seq = this.#look((reader) => reader.last().seq);
    const last = this.#look((_, database) => ownerFrom(database.prepare("SELECT owner FROM writer").get()?.owner));
    this.isOpen = last !== undefined && holds(last);
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

  #known(path: string): ReadonlySet<number> {
    try {
      return readBesideWriter(path, lostEvents);
    } catch (error) {
      throw sqliteStoreError(error, path);
    }
  }

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

  #look<T>(body: (reader: EventReader, database: DatabaseSync) => T): T {
    try {
      return readBesideWriter(this.#path, (database) => {
        this.#reading = readStatements(database);
        return body(this.#reader, database);
      });
    } catch (error) {
      throw sqliteStoreError(error, this.#path);
    } finally {
      this.#reading = undefined;
    }
  }
}

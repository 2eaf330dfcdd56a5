import type { StatementSync } from "node:sqlite";
import type { Event, Log } from "@banyan/core";
import { checkSequence, logClosed, overtaken } from "../refusal.ts";
import type { OpenFile } from "./conversation-file.ts";
import { storeError } from "./error.ts";
import { rowOf } from "./row.ts";

/** The log of one conversation in its file. Appends are done at once. */
export class SqliteLog implements Log {
  readonly epoch: number;
  readonly #conversation: string;
  readonly #opened: OpenFile;
  readonly #onClose: () => void;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #writer: StatementSync;
  readonly #insert: StatementSync;
  readonly #flush: StatementSync;
  #seq: number;
  #closed = false;

  constructor(conversation: string, opened: OpenFile, onClose: () => void) {
    const { database, epoch, seq } = opened;
    this.epoch = epoch;
    this.#conversation = conversation;
    this.#opened = opened;
    this.#onClose = onClose;
    this.#seq = seq;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#writer = database.prepare("SELECT epoch, owner FROM writer");
    this.#insert = database.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)");
    this.#flush = database.prepare("UPDATE writer SET flushes = flushes + 1");
  }

  get seq(): number {
    return this.#seq;
  }

  get damage(): readonly string[] {
    return this.#opened.reader.damage;
  }

  async *read(after = 0): AsyncGenerator<readonly Event[]> {
    const { reader } = this.#opened;
    for (let from = after; from < this.#seq; ) {
      if (this.#closed) throw logClosed(this.#conversation);
      const batch = this.#guarded(() => reader.batch(from, this.#seq));
      from = batch.end;
      if (batch.events.length > 0) yield batch.events;
    }
  }

  append(events: readonly Event[], options?: { readonly durable?: boolean }): void {
    if (this.#closed) throw logClosed(this.#conversation);
    checkSequence(this.#conversation, this.#seq, events);
    const durable = options?.durable === true;
    if (events.length === 0 && !durable) return;
    const rows = events.map(rowOf);
    const { database } = this.#opened;
    this.#guarded(() => {
      // Switching takes 0.4 µs, a second connection for durable appends gains nothing. By `exec`: SQLite carries this
      // pragma out when it is prepared, so a prepared one would do nothing later.
      if (durable) database.exec("PRAGMA synchronous = FULL");
      try {
        this.#begin.run();
        this.#checkWriter();
        for (const row of rows) this.#insert.run(...row);
        // A commit that changes nothing flushes nothing.
        if (rows.length === 0) this.#flush.run();
        this.#commit.run();
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      } finally {
        if (durable) database.exec("PRAGMA synchronous = NORMAL");
      }
    });
    this.#seq += rows.length;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose();
    this.#guarded(() => this.#opened.database.close());
  }

  /** Refuses to go on when another writer has opened the file since. */
  #checkWriter(): void {
    const writer = this.#writer.get();
    if (writer?.epoch !== this.epoch) throw overtaken(this.#conversation, writer && String(writer.owner));
  }

  #guarded<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw storeError(error, this.#opened.reader.file);
    }
  }
}

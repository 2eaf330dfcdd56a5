import type { Event, Log } from "@banyan/core";
import { checkSequence, logClosed, overtaken } from "../refusal.ts";
import { SAFE_AGAINST_KILL, SAFE_AGAINST_POWER_CUTS } from "./connection.ts";
import type { OpenFile } from "./conversation-file.ts";
import { storeError } from "./error.ts";
import { ownerFrom } from "./owner.ts";
import { rowOf } from "./row.ts";

/** The log of one conversation in its file. Appends are done at once. */
export class SqliteLog implements Log {
  readonly epoch: number;
  readonly #conversation: string;
  readonly #opened: OpenFile;
  readonly #onClose: () => void;
  #seq: number;
  #closed = false;

  constructor(conversation: string, opened: OpenFile, onClose: () => void) {
    this.epoch = opened.epoch;
    this.#conversation = conversation;
    this.#opened = opened;
    this.#onClose = onClose;
    this.#seq = opened.seq;
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
    this.#guarded(() => {
      const { database, begin, writer, insert, flush, commit } = this.#opened.file.connection;
      // Switching takes 0.4 µs, a second connection for durable appends gains nothing. By `exec`: SQLite carries this
      // pragma out when it is prepared, so a prepared one would do nothing later.
      if (durable) database.exec(SAFE_AGAINST_POWER_CUTS);
      try {
        begin.run();
        this.#checkWriter(writer.get());
        for (const row of rows) insert.run(...row);
        // A commit that changes nothing flushes nothing.
        if (rows.length === 0) flush.run();
        commit.run();
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      } finally {
        if (durable) database.exec(SAFE_AGAINST_KILL);
      }
    });
    this.#seq += rows.length;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose();
    const { file } = this.#opened;
    try {
      file.connection.release.run(this.epoch);
    } catch {
      // On a full disk, say. The conversation is kept from other processes until this one ends.
    }
    this.#guarded(() => file.close());
  }

  /** Refuses to go on when another writer has opened the file since. */
  #checkWriter(writer: Record<string, unknown> | undefined): void {
    if (writer?.epoch !== this.epoch) throw overtaken(this.#conversation, ownerFrom(writer?.owner));
  }

  #guarded<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw storeError(error, this.#opened.file.path);
    }
  }
}

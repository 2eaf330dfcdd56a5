import type { DatabaseSync } from "node:sqlite";
import type { Event, StoreError } from "@banyan/core";
import type { ConversationSummary, Log } from "@banyan/core/stores";
import { checkSequence, fileGone, logClosed, overtakenError } from "../log/refusal.ts";
import { eventRow } from "../log/row.ts";
import type { GrowingSummary } from "../log/summary.ts";
import type { OwnLog } from "./catalogue.ts";
import { SAFE_AGAINST_KILL, SAFE_AGAINST_POWER_CUTS } from "./connection.ts";
import type { OpenLogFile } from "./conversation-file.ts";
import { readSummary } from "./conversation-summary.ts";
import { inSqliteTransaction } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { ownerFrom } from "./owner.ts";
import type { RightsFile } from "./rights-files.ts";

/** The log of one conversation in a SQLite file. Appends complete at once. */
export class SqliteLog implements Log, OwnLog {
  readonly epoch: number;
  readonly #conversation: string;
  readonly rights: RightsFile;
  readonly #opened: OpenLogFile;
  /** `isReleased`: the file records that it has no writer any more. */
  readonly #onClose: (isReleased: boolean) => void;
  /** Read from the file for the first list. */
  #summary: GrowingSummary | undefined;
  isListed = false;
  #seq: number;
  /** True until the first events flush the name and the epoch of a new file. */
  #isNew: boolean;
  #closed = false;

  constructor(conversation: string, opened: OpenLogFile, rights: RightsFile, onClose: (isReleased: boolean) => void) {
    this.epoch = opened.epoch;
    this.rights = rights;
    this.#conversation = conversation;
    this.#opened = opened;
    this.#onClose = onClose;
    this.#seq = opened.seq;
    this.#isNew = opened.isNew;
  }

  get seq(): number {
    return this.#seq;
  }

  get damage(): readonly string[] {
    return [...this.#opened.mended, ...this.#opened.reader.damage];
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
    const durable = options?.durable === true || this.#isNew;
    if (events.length === 0 && !options?.durable) return;
    const rows = events.map(eventRow);
    this.#guarded(() => {
      const { connection } = this.#opened.file;
      const { database, writer, insert, flush } = connection;
      // Check before the write: a deleted file must not get events, and a system call after a flush is slower.
      if (durable && !connection.isInPlace) throw fileGone(this.#opened.file.path);
      // SQLite runs this pragma when it is prepared: use `exec`. A second connection would not be faster.
      if (durable) database.exec(SAFE_AGAINST_POWER_CUTS);
      try {
        inSqliteTransaction(database, () => {
          if (!writer.get(this.epoch)) throw this.#overtaken(database);
          for (const row of rows) insert.run(...row);
          // A commit without changes does not flush.
          if (rows.length === 0) flush.run();
        });
      } finally {
        if (durable) database.exec(SAFE_AGAINST_KILL);
      }
    });
    this.#isNew = false;
    this.#seq += rows.length;
    this.#summary?.add(events);
    this.isListed = false;
  }

  summary(): ConversationSummary | undefined {
    if (this.#closed || this.#seq === 0) return;
    try {
      // A file at rest has all events, and opening it again would put another file to rest.
      if (this.#opened.file.isAtRest) {
        this.isListed = true;
        return;
      }
      const { database, writer } = this.#opened.file.connection;
      // Another program may have taken the conversation.
      if (!writer.get(this.epoch)) return;
      if (!this.#summary) {
        const read = readSummary(database, this.#conversation);
        if (typeof read === "string") return;
        this.#summary = read;
      }
      this.isListed = true;
      return this.#summary.listed;
    } catch {
      // The file itself may be readable.
      return;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { file } = this.#opened;
    let isReleased = true;
    try {
      file.connection.release.run(this.epoch);
    } catch {
      // The disk may be full.
      isReleased = false;
    }
    this.#onClose(isReleased);
    this.#guarded(() => file.close());
  }

  #overtaken(database: DatabaseSync): StoreError {
    return overtakenError(this.#conversation, ownerFrom(database.prepare("SELECT owner FROM writer").get()?.owner));
  }

  #guarded<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw sqliteStoreError(error, this.#opened.file.path);
    }
  }
}

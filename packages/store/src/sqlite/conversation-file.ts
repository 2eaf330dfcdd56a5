import { statSync } from "node:fs";
import { hostname } from "node:os";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "@banyan/core";
import { notFound } from "../refusal.ts";
import { restoreLength } from "./cut-file.ts";
import { createFile, openDatabase, transaction } from "./database.ts";
import { isDamage, storeError } from "./error.ts";
import { EventReader } from "./event-reader.ts";

const VERSION = 1;

/**
 * `writer` has one row: the writer that opened the file last, and how often the log was flushed without an event to
 * write. The index is partial: it costs nothing for events that are no titles.
 */
const SCHEMA = `
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    crc INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX titles ON events (seq) WHERE type = 'title.changed';
  CREATE TABLE writer (epoch INTEGER NOT NULL, owner TEXT NOT NULL, flushes INTEGER NOT NULL) STRICT;
  INSERT INTO writer VALUES (0, '', 0);
  PRAGMA user_version = ${VERSION};
`;

/** A conversation's file, opened by the writer that `epoch` counts. */
export interface OpenFile {
  readonly database: DatabaseSync;
  readonly reader: EventReader;
  readonly epoch: number;
  /** The last event. */
  readonly seq: number;
}

/**
 * Opens the file of a conversation for writing and takes the next epoch.
 *
 * With the write-ahead log, `synchronous = NORMAL` is safe against kill -9 and a consistent file after a power cut, and
 * takes about 18 µs for an append; `FULL` flushes the log at each commit, about 190 µs on a fast disk. So NORMAL is the
 * rule, and an append that must survive a power cut asks for FULL.
 */
export async function openConversationFile(file: string, id: string, create: boolean): Promise<OpenFile> {
  try {
    if (create) createFile(file);
    else if (!statSync(file, { throwIfNoEntry: false })) throw notFound(id);
    try {
      return await takeOver(file, create);
    } catch (error) {
      if (!isDamage(error) || !restoreLength(file)) throw error;
      return await takeOver(file, create);
    }
  } catch (error) {
    throw storeError(error, file);
  }
}

async function takeOver(file: string, create: boolean): Promise<OpenFile> {
  const database = await openDatabase(file, { readOnly: false });
  try {
    // FULL while the epoch is taken: after a power cut no other writer may get the same one. `fullfsync` makes a flush
    // reach the disk itself on macOS; elsewhere it does nothing.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA fullfsync = ON; PRAGMA synchronous = FULL");
    let epoch = transaction(database, () => {
      prepareSchema(database, file, create);
      return raiseEpoch(database, file, 0);
    });
    // Only now, when nobody else appends any more; and not in the transaction, which damaged pages would break.
    const reader = new EventReader(database, file);
    const last = reader.last();
    // A damaged `writer` must not hand out an epoch that was there already.
    if (last.epoch >= epoch) epoch = transaction(database, () => raiseEpoch(database, file, last.epoch));
    database.exec("PRAGMA synchronous = NORMAL");
    return { database, reader, epoch, seq: last.seq };
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepareSchema(database: DatabaseSync, file: string, create: boolean): void {
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (version === VERSION) return;
  if (version > VERSION) {
    throw new StoreError("unusable", `${file} was written by a newer version of Banyan; update this one to open it.`);
  }
  const tables = Number(database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.count);
  if (!create || tables > 0) {
    throw new StoreError(
      "damaged",
      `${file} holds no conversation; put a backup in its place. No other conversation is touched.`,
    );
  }
  database.exec(SCHEMA);
}

/** Makes this process the writer, with the next epoch, above `floor` in any case. */
function raiseEpoch(database: DatabaseSync, file: string, floor: number): number {
  const epoch = Math.max(Number(database.prepare("SELECT epoch FROM writer").get()?.epoch), floor) + 1;
  const owner = `process ${process.pid} on ${hostname()}`;
  if (
    !Number.isSafeInteger(epoch) ||
    database.prepare("UPDATE writer SET epoch = ?, owner = ?").run(epoch, owner).changes !== 1
  ) {
    throw new StoreError(
      "damaged",
      `${file} does not say who wrote to it; put a backup in its place. No other conversation is touched.`,
    );
  }
  return epoch;
}

import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "@banyan/core";
import { notFound } from "../refusal.ts";
import { Connection, SAFE_AGAINST_KILL, SAFE_AGAINST_POWER_CUTS } from "./connection.ts";
import { restoreLength } from "./cut-file.ts";
import { createFile, openDatabase, transaction } from "./database.ts";
import { isDamage, storeError } from "./error.ts";
import { EventReader } from "./event-reader.ts";
import { LogFile, type OpenFiles } from "./open-files.ts";
import { type Owner, ownerFrom } from "./owner.ts";

const VERSION = 1;

/**
 * `writer` has one row: the writer that opened the file last, empty when that one has closed it, and how often the log
 * was flushed without an event to write. The index is partial: it costs nothing for events that are no titles.
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
  readonly file: LogFile;
  readonly reader: EventReader;
  readonly epoch: number;
  /** The last event. */
  readonly seq: number;
}

/** How a file is opened. */
export interface Opening {
  /** Make it when there is none. */
  readonly create: boolean;
  /** Who opens it. */
  readonly owner: () => Owner;
  /** Throws when whoever had it open last keeps it. */
  readonly refuse: (last: Owner | undefined) => void;
  readonly files: OpenFiles;
}

/** Opens the file of a conversation for writing and takes the next epoch. Throws `StoreError`. */
export function openConversationFile(path: string, id: string, opening: Opening): OpenFile {
  try {
    if (opening.create) createFile(path);
    else if (!statSync(path, { throwIfNoEntry: false })) throw notFound(id);
    try {
      return takeOver(path, opening);
    } catch (error) {
      if (!isDamage(error) || !restoreLength(path)) throw error;
      return takeOver(path, opening);
    }
  } catch (error) {
    throw storeError(error, path);
  }
}

function takeOver(path: string, { create, owner, refuse, files }: Opening): OpenFile {
  const database = openDatabase(path, { readOnly: false });
  let file: LogFile | undefined;
  try {
    // Flushed: after a power cut no other writer may get the same epoch. `fullfsync` makes a flush reach the disk itself
    // on macOS; elsewhere it does nothing.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA fullfsync = ON; ${SAFE_AGAINST_POWER_CUTS}`);
    const self = owner();
    let epoch = transaction(database, () => {
      prepareSchema(database, path, create);
      refuse(ownerFrom(database.prepare("SELECT owner FROM writer").get()?.owner));
      return raiseEpoch(database, path, self, 0);
    });
    file = new LogFile(path, new Connection(database), files);
    // Only now, when nobody else appends any more; and not in the transaction, which damaged pages would break.
    const reader = new EventReader(file);
    const last = reader.last();
    // A damaged `writer` must not hand out an epoch that was there already.
    if (last.epoch >= epoch) epoch = transaction(database, () => raiseEpoch(database, path, self, last.epoch));
    database.exec(SAFE_AGAINST_KILL);
    return { file, reader, epoch, seq: last.seq };
  } catch (error) {
    if (file) file.close();
    else database.close();
    throw error;
  }
}

function prepareSchema(database: DatabaseSync, path: string, create: boolean): void {
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (version === VERSION) return;
  if (version > VERSION) {
    throw new StoreError("unusable", `${path} was written by a newer version of Banyan; update this one to open it.`);
  }
  const tables = Number(database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.count);
  if (!create || tables > 0) {
    throw new StoreError(
      "damaged",
      `${path} holds no conversation; put a backup in its place. No other conversation is touched.`,
    );
  }
  database.exec(SCHEMA);
}

/** Makes `owner` the writer, with the next epoch, above `floor` in any case. */
function raiseEpoch(database: DatabaseSync, path: string, owner: Owner, floor: number): number {
  const epoch = Math.max(Number(database.prepare("SELECT epoch FROM writer").get()?.epoch), floor) + 1;
  if (
    !Number.isSafeInteger(epoch) ||
    database.prepare("UPDATE writer SET epoch = ?, owner = ?").run(epoch, JSON.stringify(owner)).changes !== 1
  ) {
    throw new StoreError(
      "damaged",
      `${path} does not say who wrote to it; put a backup in its place. No other conversation is touched.`,
    );
  }
  return epoch;
}

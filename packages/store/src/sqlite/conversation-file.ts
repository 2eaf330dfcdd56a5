import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "@banyan/core";
import { notFound } from "../log/refusal.ts";
import { beginConversationFile } from "./begin-file.ts";
import { BEFORE_FIRST_FLUSH, OpenDatabase, SAFE_AGAINST_KILL, SAFE_AGAINST_POWER_CUTS } from "./connection.ts";
import { INDEX_OF_QUESTIONS, identityOf, lostEvents, makeSchema, VERSION } from "./conversation-schema.ts";
import { createDatabaseFile, inSqliteTransaction, makeDirectory, openSqliteFile } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { EventReader } from "./event-reader.ts";
import { putForeignLogAside } from "./foreign-log.ts";
import { LogFile, type OpenFiles } from "./open-files.ts";
import { type FileOwner, ownerFrom } from "./owner.ts";
import { renewFile } from "./renew.ts";

/** A conversation's file, which one session has open for writing. Each opening gets a higher `epoch`. */
export interface OpenLogFile {
  readonly file: LogFile;
  readonly reader: EventReader;
  readonly epoch: number;
  /** Number of the last event. */
  readonly seq: number;
  /** True for a new file, until the first events have flushed its name and the epoch. */
  readonly isNew: boolean;
  /** A sentence for each repair when the file was opened. */
  readonly mended: readonly string[];
}

/** Options for opening a conversation's file. */
export interface OpenFileOptions {
  readonly create: boolean;
  /** Returns the new owner. */
  readonly owner: () => FileOwner;
  /** Throws if the last owner still has the file. */
  readonly refuse: (last: FileOwner | undefined) => void;
  readonly files: OpenFiles;
}

/** Opens a conversation's file for writing with the next epoch, and repairs damage. Throws a `StoreError`. */
export function openConversationFile(path: string, id: string, opening: OpenFileOptions): OpenLogFile {
  try {
    if (opening.create) makeDirectory(dirname(path));
    else if (!statSync(path, { throwIfNoEntry: false })) throw notFound(id);
    return runExclusively(path, () => {
      const isNew = opening.create && beginConversationFile(path, id);
      return openMended(path, id, { ...opening, isNew });
    });
  } catch (error) {
    throw sqliteStoreError(error, path);
  }
}

interface BegunFile extends OpenFileOptions {
  readonly isNew: boolean;
}

function openMended(path: string, id: string, opening: BegunFile): OpenLogFile {
  const said = putForeignLogAside(path, id);
  const mended = said === undefined ? [] : [said];
  const open = () => ({ ...takeOver(path, id, opening), mended });
  return withoutDamage(open, (damage) => {
    restoreLength(path);
    return withoutDamage(open, () => {
      const renewed = renewFile(path, id, opening.refuse);
      if (!renewed) throw damage;
      mended.push(...renewed);
      return open();
    });
  });
}

function withoutDamage<T>(body: () => T, otherwise: (damage: unknown) => T): T {
  try {
    return body();
  } catch (error) {
    if (sqliteStoreError(error, "").code !== "damaged") throw error;
    return otherwise(error);
  }
}

/**
 * An owner may only seem dead, such as a suspended laptop. The new owner raises the epoch in a flushed transaction
 * before it reads the last event. Each append of the old owner checks the epoch in its transaction, and is then
 * `stale`. Without the flush, a power cut could give two owners the same epoch. The epoch of a new file is flushed with
 * its first events: without them, nobody knows the epoch.
 */
function takeOver(
  path: string,
  id: string,
  { create, owner, refuse, files, isNew }: BegunFile,
): Omit<OpenLogFile, "mended"> {
  const hasLog = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size;
  const database = openSqliteFile(path, { readOnly: false });
  let file: LogFile | undefined;
  try {
    const mode = database.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
    // On macOS, only `fullfsync` flushes to the disk itself.
    database.exec("PRAGMA fullfsync = ON");
    // Not every file system has what a write-ahead log needs.
    database.exec(mode === "wal" && !hasLog ? BEFORE_FIRST_FLUSH : SAFE_AGAINST_KILL);
    const self = owner();
    let isEmpty = isNew;
    inSqliteTransaction(database, () => {
      isEmpty = prepareSchema(database, path, id, create) || isNew;
      refuse(ownerFrom(database.prepare("SELECT owner FROM writer").get()?.owner));
      if (!isEmpty) database.exec(INDEX_OF_QUESTIONS);
      sign(database, id);
    });
    // After a power cut, no other writer may get this epoch.
    if (!isNew) database.exec(SAFE_AGAINST_POWER_CUTS);
    let epoch = inSqliteTransaction(database, () => raiseEpoch(database, path, self, 0));
    file = new LogFile(path, new OpenDatabase(database, path), files);
    // No other writer appends any more. Outside the transaction, which damaged pages would abort.
    const reader = new EventReader(file, lostEvents(database));
    const last = reader.last();
    // A damaged `writer` table must not yield an epoch that was used before.
    if (last.epoch >= epoch) epoch = inSqliteTransaction(database, () => raiseEpoch(database, path, self, last.epoch));
    if (!isEmpty) tryToWrite(database, last.seq);
    database.exec(SAFE_AGAINST_KILL);
    return { file, reader, epoch, seq: last.seq, isNew };
  } catch (error) {
    // Closing a file may write its log into the file.
    database.exec(SAFE_AGAINST_KILL);
    if (file) file.close();
    else database.close();
    throw error;
  }
}

/** Throws a `StoreError` if the file is not a conversation. */
function prepareSchema(database: DatabaseSync, path: string, id: string, create: boolean): boolean {
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (version === VERSION) return false;
  if (version > VERSION) {
    throw new StoreError(
      "unusable",
      `${path} was written by a newer version of Banyan; update Banyan to open the file.`,
    );
  }
  const tables = Number(database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.count);
  if (!create || tables > 0) {
    throw new StoreError(
      "damaged",
      `${path} contains no conversation; replace the file with a backup. No other conversation is affected.`,
    );
  }
  makeSchema(database, id);
  return true;
}

/** The write-ahead log after each opening must contain the page with the file's identity. */
function sign(database: DatabaseSync, id: string): void {
  const identity = Number(database.prepare("PRAGMA application_id").get()?.application_id);
  database.exec(`PRAGMA application_id = ${identity === 0 ? identityOf(id) : identity}`);
}

/** Throws if the pages for the next events are damaged: an open conversation must be able to continue. */
function tryToWrite(database: DatabaseSync, last: number): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const insert = database.prepare("INSERT INTO events VALUES (?, 0, 0, ?, ?, 0)");
    // A long event needs its own pages, and a title also goes into the index.
    insert.run(last + 1, "title.changed", "x".repeat(10_000));
    for (let more = 2; more <= 40; more++) insert.run(last + more, "", "x".repeat(200));
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
  }
}

/** The next epoch is above `floor`. */
function raiseEpoch(database: DatabaseSync, path: string, owner: FileOwner, floor: number): number {
  const epoch = Math.max(Number(database.prepare("SELECT epoch FROM writer").get()?.epoch), floor) + 1;
  if (
    !Number.isSafeInteger(epoch) ||
    database.prepare("UPDATE writer SET epoch = ?, owner = ?").run(epoch, JSON.stringify(owner)).changes !== 1
  ) {
    throw new StoreError(
      "damaged",
      `${path} lacks the record of its writer; replace the file with a backup. No other conversation is affected.`,
    );
  }
  return epoch;
}

/**
 * Runs `body`, which opens a file for writing, while no other store opens or repairs files in this folder. Otherwise, a
 * process with a damaged file open could leave its write-ahead log next to the replacement. Throws SQLite's error if
 * another process holds the lock too long.
 */
function runExclusively<T>(path: string, body: () => T): T {
  // Not the name of a process lock: those files are removed, and waiting processes would hold a deleted file.
  const file = join(dirname(dirname(path)), "opening.sqlite");
  if (!statSync(file, { throwIfNoEntry: false })) createDatabaseFile(file);
  using database = openSqliteFile(file, { readOnly: false });
  database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  return body();
}

/** A damaged header must not fill the disk. */
const LONGEST = 1024 ** 3;

/**
 * Extends a truncated database file with zeros to the length in its header (https://sqlite.org/fileformat2.html):
 * SQLite refuses a short file, but can then read the remaining content. Returns whether the file was too short.
 */
function restoreLength(file: string): boolean {
  const descriptor = openSync(file, "r+");
  try {
    const header = Buffer.alloc(100);
    readSync(descriptor, header, 0, header.length, 0);
    if (header.toString("latin1", 0, 16) !== "SQLite format 3\0") return false;
    const pageSize = header.readUInt16BE(16);
    const length = (pageSize === 1 ? 65_536 : pageSize) * header.readUInt32BE(28);
    const { size } = fstatSync(descriptor);
    if (size >= length || length > size + LONGEST) return false;
    ftruncateSync(descriptor, length);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

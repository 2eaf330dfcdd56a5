import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "@banyan/core";
import { notFound } from "../log/refusal.ts";
import { OpenDatabase, SAFE_AGAINST_KILL, SAFE_AGAINST_POWER_CUTS } from "./connection.ts";
import { INDEX_OF_QUESTIONS, identityOf, lostEvents, makeSchema, VERSION } from "./conversation-schema.ts";
import { createDatabaseFile, inSqliteTransaction, openSqliteFile } from "./database.ts";
import { sqliteStoreError } from "./error.ts";
import { EventReader } from "./event-reader.ts";
import { putForeignLogAside } from "./foreign-log.ts";
import { LogFile, type OpenFiles } from "./open-files.ts";
import { type FileOwner, ownerFrom } from "./owner.ts";
import { renewFile } from "./renew.ts";

/** A conversation's file, opened by the writer with this `epoch`. */
export interface OpenLogFile {
  readonly file: LogFile;
  readonly reader: EventReader;
  readonly epoch: number;
  /** The number of the last event. */
  readonly seq: number;
  /** Repairs before opening, a sentence each. */
  readonly mended: readonly string[];
}

/** How to open a file. */
export interface OpenFileOptions {
  /** Create the file if it is missing. */
  readonly create: boolean;
  /** Returns the new owner. */
  readonly owner: () => FileOwner;
  /** Throws if the last owner keeps the file. */
  readonly refuse: (last: FileOwner | undefined) => void;
  readonly files: OpenFiles;
}

/**
 * Opens the file of a conversation for writing and takes the next epoch. Damaged parts are repaired, and the old file
 * is kept under another name. Throws a `StoreError`.
 */
export function openConversationFile(path: string, id: string, opening: OpenFileOptions): OpenLogFile {
  try {
    if (opening.create) createDatabaseFile(path);
    else if (!statSync(path, { throwIfNoEntry: false })) throw notFound(id);
    return runExclusively(path, () => openMended(path, id, opening));
  } catch (error) {
    throw sqliteStoreError(error, path);
  }
}

function openMended(path: string, id: string, opening: OpenFileOptions): OpenLogFile {
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
 * Two processes want one conversation, and its owner may only seem dead: a suspended laptop, or a server that waits for
 * its disk. The new owner raises the epoch in a flushed transaction before it reads the last event. The old owner may
 * continue at any moment: each of its appends checks the epoch in the same transaction, finds a higher one, and is
 * `stale`. Without the flush, a power cut could give two owners the same epoch.
 */
function takeOver(
  path: string,
  id: string,
  { create, owner, refuse, files }: OpenFileOptions,
): Omit<OpenLogFile, "mended"> {
  const database = openSqliteFile(path, { readOnly: false });
  let file: LogFile | undefined;
  try {
    // Flush: after a power cut, no other writer may get the same epoch. `fullfsync` makes a flush reach the disk itself
    // on macOS, and has no effect elsewhere.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA fullfsync = ON; ${SAFE_AGAINST_POWER_CUTS}`);
    const self = owner();
    let isNew = false;
    let epoch = inSqliteTransaction(database, () => {
      isNew = prepareSchema(database, path, id, create);
      refuse(ownerFrom(database.prepare("SELECT owner FROM writer").get()?.owner));
      if (!isNew) database.exec(INDEX_OF_QUESTIONS);
      sign(database, id);
      return raiseEpoch(database, path, self, 0);
    });
    file = new LogFile(path, new OpenDatabase(database, path), files);
    // Read only now: no other writer appends any more. Stay outside the transaction, which damaged pages would abort.
    const reader = new EventReader(file, lostEvents(database));
    const last = reader.last();
    // A damaged `writer` table must not yield an epoch that was used before.
    if (last.epoch >= epoch) epoch = inSqliteTransaction(database, () => raiseEpoch(database, path, self, last.epoch));
    // A new file was just written completely.
    if (!isNew) tryToWrite(database, last.seq);
    database.exec(SAFE_AGAINST_KILL);
    return { file, reader, epoch, seq: last.seq };
  } catch (error) {
    if (file) file.close();
    else database.close();
    throw error;
  }
}

/** Returns whether the file is new. Throws a `StoreError` if the file is not a conversation. */
function prepareSchema(database: DatabaseSync, path: string, id: string, create: boolean): boolean {
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (version === VERSION) return false;
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
  makeSchema(database, id);
  return true;
}

/** Writes the page with the file's identity, so that the write-ahead log after each opening contains this page. */
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

/** Makes `owner` the writer with the next epoch, which is above `floor`. */
function raiseEpoch(database: DatabaseSync, path: string, owner: FileOwner, floor: number): number {
  const epoch = Math.max(Number(database.prepare("SELECT epoch FROM writer").get()?.epoch), floor) + 1;
  if (
    !Number.isSafeInteger(epoch) ||
    database.prepare("UPDATE writer SET epoch = ?, owner = ?").run(epoch, JSON.stringify(owner)).changes !== 1
  ) {
    throw new StoreError(
      "damaged",
      `${path} has no record of its writer; put a backup in its place. No other conversation is touched.`,
    );
  }
  return epoch;
}

/**
 * Runs `body`, which opens a file for writing, while no other store opens or repairs a file of this folder. Opening
 * must be inside the lock too. A process with an open damaged file would leave its write-ahead log next to the
 * replacement. Throws SQLite's error if another process holds the lock too long.
 */
function runExclusively<T>(path: string, body: () => T): T {
  // Use no name of a process lock: those files are removed, and waiting processes would hold a deleted file.
  const file = join(dirname(dirname(path)), "opening.sqlite");
  if (!statSync(file, { throwIfNoEntry: false })) createDatabaseFile(file);
  using database = openSqliteFile(file, { readOnly: false });
  database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  return body();
}

/** The largest length to restore: a damaged header must not fill the disk. */
const LONGEST = 1024 ** 3;

/**
 * Restores the length of a truncated database file from its header (https://sqlite.org/fileformat2.html), with zeros.
 * SQLite refuses a file that is too short; afterwards, the remaining content is readable. Existing bytes do not change.
 * Returns whether the file was too short.
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

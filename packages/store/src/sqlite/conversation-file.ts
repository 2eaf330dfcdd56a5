import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "@banyan/core";
import { notFound } from "../refusal.ts";
import { OpenDatabase, SAFE_AGAINST_KILL, SAFE_AGAINST_POWER_CUTS } from "./connection.ts";
import { INDEX_OF_QUESTIONS, identityOf, makeSchema, passedOver, VERSION } from "./conversation-schema.ts";
import { createFile, openDatabase, transaction } from "./database.ts";
import { storeError } from "./error.ts";
import { EventReader } from "./event-reader.ts";
import { putForeignLogAside } from "./foreign-log.ts";
import { LogFile, type OpenFiles } from "./open-files.ts";
import { type FileOwner, ownerFrom } from "./owner.ts";
import { renewFile } from "./renew.ts";

/** A conversation's file, opened by the writer that `epoch` counts. */
export interface OpenFile {
  readonly file: LogFile;
  readonly reader: EventReader;
  readonly epoch: number;
  /** The last event. */
  readonly seq: number;
  /** What was mended before it could be opened, a sentence each. */
  readonly mended: readonly string[];
}

/** How a file is opened. */
export interface Opening {
  /** Make it when there is none. */
  readonly create: boolean;
  /** Who opens it. */
  readonly owner: () => FileOwner;
  /** Throws when whoever had it open last keeps it. */
  readonly refuse: (last: FileOwner | undefined) => void;
  readonly files: OpenFiles;
}

/**
 * Opens the file of a conversation for writing and takes the next epoch. What is in the way of that is mended, and kept
 * under another name. Throws `StoreError`.
 */
export function openConversationFile(path: string, id: string, opening: Opening): OpenFile {
  try {
    if (opening.create) createFile(path);
    else if (!statSync(path, { throwIfNoEntry: false })) throw notFound(id);
    return alone(path, () => openMended(path, id, opening));
  } catch (error) {
    throw storeError(error, path);
  }
}

function openMended(path: string, id: string, opening: Opening): OpenFile {
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
    if (storeError(error, "").code !== "damaged") throw error;
    return otherwise(error);
  }
}

/**
 * Two processes want one conversation, and the one that has it may only seem to be gone: a laptop that slept, a server that
 * waits for its disk. Whoever opens it raises the epoch, in a transaction and flushed, before it reads the last event. The
 * other one may wake at any moment: each of its appends asks for its own epoch in the same transaction, finds a higher one, and
 * is `stale`. Without the flush, a power cut could give the same epoch to two.
 */
function takeOver(path: string, id: string, { create, owner, refuse, files }: Opening): Omit<OpenFile, "mended"> {
  const database = openDatabase(path, { readOnly: false });
  let file: LogFile | undefined;
  try {
    // Flushed: after a power cut no other writer may get the same epoch. `fullfsync` makes a flush reach the disk itself
    // on macOS; elsewhere it does nothing.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA fullfsync = ON; ${SAFE_AGAINST_POWER_CUTS}`);
    const self = owner();
    let isNew = false;
    let epoch = transaction(database, () => {
      isNew = prepareSchema(database, path, id, create);
      refuse(ownerFrom(database.prepare("SELECT owner FROM writer").get()?.owner));
      if (!isNew) database.exec(INDEX_OF_QUESTIONS);
      sign(database, id);
      return raiseEpoch(database, path, self, 0);
    });
    file = new LogFile(path, new OpenDatabase(database, path), files);
    // Only now, when nobody else appends any more; and not in the transaction, which damaged pages would break.
    const reader = new EventReader(file, passedOver(database));
    const last = reader.last();
    // A damaged `writer` must not hand out an epoch that was there already.
    if (last.epoch >= epoch) epoch = transaction(database, () => raiseEpoch(database, path, self, last.epoch));
    // All that there is of a new one was written just now.
    if (!isNew) tryToWrite(database, last.seq);
    database.exec(SAFE_AGAINST_KILL);
    return { file, reader, epoch, seq: last.seq };
  } catch (error) {
    if (file) file.close();
    else database.close();
    throw error;
  }
}

/** Returns whether the file is a new one. Throws `StoreError` when it is none of a conversation. */
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

/** The page that says whose file this is comes into each write-ahead log that begins with an opening. */
function sign(database: DatabaseSync, id: string): void {
  const identity = Number(database.prepare("PRAGMA application_id").get()?.application_id);
  database.exec(`PRAGMA application_id = ${identity === 0 ? identityOf(id) : identity}`);
}

/** Throws where the places that the next events go to are damaged: a conversation that opens must be able to go on. */
function tryToWrite(database: DatabaseSync, last: number): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const insert = database.prepare("INSERT INTO events VALUES (?, 0, 0, ?, ?, 0)");
    // A long one needs pages of its own; a title goes into the index too.
    insert.run(last + 1, "title.changed", "x".repeat(10_000));
    for (let more = 2; more <= 40; more++) insert.run(last + more, "", "x".repeat(200));
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
  }
}

/** Makes `owner` the writer, with the next epoch, above `floor` in any case. */
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
 * Runs `body`, which opens a file for writing, while no other store opens or mends one in the same place. Opening is
 * within it too: who had a damaged file open while another one replaced it would leave its write-ahead log beside the
 * new file. Throws as SQLite does when another one takes too long.
 */
function alone<T>(path: string, body: () => T): T {
  // No name of a process's lock: those are cleared away, and whoever waited for one would hold a file that is gone.
  const file = join(dirname(dirname(path)), "opening.sqlite");
  if (!statSync(file, { throwIfNoEntry: false })) createFile(file);
  using database = openDatabase(file, { readOnly: false });
  database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  return body();
}

/** The most that is given back: a damaged header must not fill a disk. */
const LONGEST = 1024 ** 3;

/**
 * Gives a database file that was cut the length back that its header says (https://sqlite.org/fileformat2.html), with
 * zeros. SQLite refuses a file that is too short; after this, what is left of it can be read. Nothing that is there
 * changes. Returns whether there was something to do.
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

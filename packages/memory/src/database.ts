import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { MemoryError } from "./error.ts";

const VERSION = 1;

/** Milliseconds to wait for another process's lock, held for the length of one write. Waiting blocks this process too. */
const BUSY_TIMEOUT = 2000;
/** What SQLite says of a lock that another process has. */
const BUSY = 5;

/**
 * A text is kept once (`entries`), however often it was said (`sources`; of one conversation and directory the last time
 * counts; '' is none). `words` knows which words are in which entry, and keeps no text. `vectors` has for an entry what each
 * embedding model made of it: 32-bit numbers of length 1. `off` names the conversations for which memory is off.
 */
const SCHEMA = `
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (digest, kind)
  ) STRICT;
  CREATE INDEX summaries ON entries (id) WHERE kind = 'summary';
  CREATE TABLE sources (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    conversation TEXT NOT NULL,
    directory TEXT NOT NULL,
    message TEXT,
    role TEXT,
    at INTEGER NOT NULL,
    UNIQUE (entry, conversation, directory)
  ) STRICT;
  CREATE INDEX sources_of ON sources (conversation);
  CREATE TABLE off (conversation TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE vectors (
    model TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, entry)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX vectors_of ON vectors (entry);
  CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter unicode61 remove_diacritics 2');
  INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
  PRAGMA user_version = ${VERSION};
`;

/**
 * Opens a memory's file for writing, and makes it when there is none: for its owner only. Throws `MemoryError`, or as
 * SQLite and the file system do.
 */
export function openDatabase(file: string): DatabaseSync {
  createFile(file);
  const database = open(file, "rw");
  try {
    // Commits survive kill -9, and the file stays whole in a power cut. What is deleted is overwritten.
    database.exec("PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL");
    if (versionOf(database) !== VERSION) {
      // The room of what is deleted is given back.
      database.exec("PRAGMA auto_vacuum = FULL");
      writeAhead(database);
      // Another process may be about to prepare it too.
      transaction(database, () => prepare(database, file));
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * From now on who reads waits for nobody who writes. Of several processes that ask for it in one moment, SQLite refuses all
 * but one at once instead of letting them wait for each other, which could be for ever: the others ask again.
 */
function writeAhead(database: DatabaseSync): void {
  for (const end = performance.now() + BUSY_TIMEOUT; ; ) {
    try {
      database.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if ((error as { readonly errcode?: unknown }).errcode !== BUSY || performance.now() > end) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
}

/** Opens a memory's file, prepared before, to look things up in it. Throws as SQLite does. */
export function openForReading(file: string): DatabaseSync {
  return open(file, "ro");
}

function open(file: string, mode: "ro" | "rw"): DatabaseSync {
  // Loaded with the first memory, not with the program.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const address = pathToFileURL(file);
  // SQLite makes a file that is missing, unless it is told not to.
  address.searchParams.set("mode", mode);
  const database = new DatabaseSync(address, { readOnly: mode === "ro", timeout: BUSY_TIMEOUT });
  // A file that somebody was given must not run functions of its own choice by way of a view or a trigger.
  database.exec("PRAGMA trusted_schema = OFF");
  return database;
}

function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    // Exclusively: closing a file that SQLite has open would drop this process's locks on it (POSIX).
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function prepare(database: DatabaseSync, file: string): void {
  const version = versionOf(database);
  if (version === VERSION) return;
  if (version > VERSION) {
    throw new MemoryError("unusable", `${file} was written by a newer version of Banyan; update this one to use it.`);
  }
  if (Number(database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.count) > 0) {
    throw new MemoryError("unusable", `${file} is a database of something else; name another file for the memory.`);
  }
  database.exec(SCHEMA);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

/** Runs `body` in a transaction that writes; whatever it throws undoes everything. */
export function transaction<T>(database: DatabaseSync, body: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = body();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createDatabaseFile, inSqliteTransaction, openSqliteFile } from "./database.ts";

const VERSION = 3;

/** `texts` is the word index, without texts; its rows match `messages`. `indexed`: how far each file was read. */
const SCHEMA = `
  DROP TABLE IF EXISTS conversations;
  DROP TABLE IF EXISTS indexed;
  DROP TABLE IF EXISTS messages;
  DROP TABLE IF EXISTS texts;
  CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    labels TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    questions TEXT NOT NULL,
    stamp TEXT NOT NULL
  ) STRICT;
  CREATE TABLE indexed (
    number INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL,
    seq INTEGER NOT NULL,
    crc INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    message TEXT NOT NULL,
    parent TEXT,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    UNIQUE (conversation, message)
  ) STRICT;
  CREATE INDEX removed ON messages (conversation) WHERE removed;
  CREATE VIRTUAL TABLE texts USING fts5 (
    text,
    content = '',
    contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2'
  );
  PRAGMA user_version = ${VERSION};
`;

/** Returns the path of the catalogue in a store's directory. */
export function catalogueIn(directory: string): string {
  return join(directory, "catalogue.sqlite");
}

/**
 * Opens the catalogue for reading. Returns `undefined` if it is missing or of another version. Throws SQLite's errors.
 */
export function readableCatalogue(file: string): DatabaseSync | undefined {
  if (!statSync(file, { throwIfNoEntry: false })) return;
  const database = openSqliteFile(file, { readOnly: true });
  try {
    if (catalogueVersion(database) === VERSION) return database;
    database.close();
    return;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens the catalogue for writing, and creates a missing catalogue. `timeout`: milliseconds to wait for another writer.
 * Throws SQLite's errors.
 */
export function writableCatalogue(file: string, waiting?: { readonly timeout: number }): DatabaseSync {
  createDatabaseFile(file);
  const database = openSqliteFile(file, { readOnly: false, ...waiting });
  try {
    return prepared(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Creates an empty catalogue in memory. */
export function passingCatalogue(): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return prepared(new DatabaseSync(":memory:"));
}

/** Deletes the catalogue. It is only a cache of the conversation files. */
export function discardCatalogue(file: string): void {
  try {
    for (const suffix of ["-journal", ""]) rmSync(file + suffix, { force: true });
  } catch {}
}

function prepared(database: DatabaseSync): DatabaseSync {
  // The catalogue needs no flush. Deleted content is overwritten, and its space is freed. Readers wait only for commits.
  database.exec(
    "PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; PRAGMA auto_vacuum = FULL; PRAGMA cache_spill = OFF",
  );
  if (catalogueVersion(database) !== VERSION) {
    inSqliteTransaction(database, () => {
      if (catalogueVersion(database) !== VERSION) database.exec(SCHEMA);
    });
  }
  return database;
}

function catalogueVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createFile, openDatabase, transaction } from "./database.ts";

const VERSION = 3;

/**
 * What is known of the conversations' files: `conversations` for lists, the rest for searches. `texts` knows which words
 * are where and keeps no text; its rows are those of `messages`, and `indexed` says how far each file was read.
 */
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

/** The one that belongs to a store's directory. */
export function catalogueIn(directory: string): string {
  return join(directory, "catalogue.sqlite");
}

/** Opens the catalogue for reading; nothing when there is none, or one of another version. Throws as SQLite does. */
export function readableCatalogue(file: string): DatabaseSync | undefined {
  if (!statSync(file, { throwIfNoEntry: false })) return;
  const database = openDatabase(file, { readOnly: true });
  try {
    if (versionOf(database) === VERSION) return database;
    database.close();
    return;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens the catalogue for writing, and makes it when it is not there. Throws as SQLite does. */
export function writableCatalogue(file: string): DatabaseSync {
  createFile(file);
  const database = openDatabase(file, { readOnly: false });
  try {
    return prepared(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** An empty catalogue that is gone when it is closed. */
export function passingCatalogue(): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  return prepared(new DatabaseSync(":memory:"));
}

/** It is a cache: whatever is wrong with it, the files know everything. */
export function discardCatalogue(file: string): void {
  try {
    for (const suffix of ["-journal", ""]) rmSync(file + suffix, { force: true });
  } catch {
    // It stays as it is, and the files are read each time.
  }
}

function prepared(database: DatabaseSync): DatabaseSync {
  // Nothing here is worth a flush. What is deleted is overwritten, and its room given back.
  database.exec("PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; PRAGMA auto_vacuum = FULL");
  if (versionOf(database) !== VERSION) {
    transaction(database, () => {
      // Another process may have been faster.
      if (versionOf(database) !== VERSION) database.exec(SCHEMA);
    });
  }
  return database;
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { MemoryError } from "./error.ts";

const VERSION = 1;

/**
 * Milliseconds to wait for another process's lock, held for the length of one write. Waiting blocks this process too.
 */
const BUSY_TIMEOUT = 2000;
/** SQLite's error code for another process's lock. */
const BUSY = 5;

/** `words` is the full-text index. `vectors` has one unit vector of 32-bit floats per entry and embedding model. */
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

/** Opens a memory file for writing. Creates a missing file, readable only by its owner. Throws `MemoryError`. */
export function openMemoryFile(file: string): DatabaseSync {
  createMemoryFile(file);
  const database = openWithMode(file, "rw");
  try {
    // Commits survive kill -9, and a power cut does not damage the file. Deleted data is overwritten.
    database.exec("PRAGMA secure_delete = ON; PRAGMA synchronous = NORMAL");
    if (memoryVersion(database) !== VERSION) {
      database.exec("PRAGMA auto_vacuum = FULL");
      writeAhead(database);
      // Another process may prepare the file at the same time.
      inMemoryTransaction(database, () => prepareTables(database, file));
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Readers then never wait for writers. If several processes switch at once, SQLite refuses all but one: retry. */
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

/** Opens an existing memory file for reading. Throws SQLite's errors. */
export function openForReading(file: string): DatabaseSync {
  return openWithMode(file, "ro");
}

function openWithMode(file: string, mode: "ro" | "rw"): DatabaseSync {
  // Loaded with the first memory, not with the program.
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const address = pathToFileURL(file);
  // Without a mode, SQLite would create a missing file.
  address.searchParams.set("mode", mode);
  const database = new DatabaseSync(address, { readOnly: mode === "ro", timeout: BUSY_TIMEOUT });
  // A file from another user must not run functions through its views or triggers.
  database.exec("PRAGMA trusted_schema = OFF");
  return database;
}

function createMemoryFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    // Create exclusively: closing a file that SQLite has open would drop this process's POSIX locks on it.
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function prepareTables(database: DatabaseSync, file: string): void {
  const version = memoryVersion(database);
  if (version === VERSION) return;
  if (version > VERSION) {
    throw new MemoryError(
      "unusable",
      `${file} was written by a newer version of Banyan; update Banyan to use the file.`,
    );
  }
  if (Number(database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.count) > 0) {
    throw new MemoryError("unusable", `${file} is a database of another program; choose another file for the memory.`);
  }
  database.exec(SCHEMA);
}

function memoryVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.user_version);
}

/** Runs `body` in a write transaction, which an error rolls back. */
export function inMemoryTransaction<T>(database: DatabaseSync, body: () => T): T {
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

import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as after } from "node:timers/promises";
import { errorMessage } from "@banyan/core/shown";
import { systemCode, WorkspaceError } from "../files/error.ts";

const VERSION = 2;
const SCHEMA = `
CREATE TABLE contents (
  id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, packed INTEGER NOT NULL, bytes BLOB NOT NULL
) STRICT;
CREATE TABLE moments (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, phase TEXT NOT NULL, conversation TEXT NOT NULL,
  message TEXT NOT NULL, call TEXT NOT NULL
) STRICT;
CREATE INDEX of_conversation ON moments (conversation);
CREATE TABLE entries (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER, kind TEXT NOT NULL,
  mode INTEGER NOT NULL, content INTEGER, ignored INTEGER NOT NULL, inode REAL NOT NULL, size REAL NOT NULL,
  modified REAL NOT NULL, changed REAL NOT NULL, fresh INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX current ON entries (path) WHERE until IS NULL;
CREATE INDEX begun ON entries (since) WHERE until IS NULL;
CREATE INDEX ended ON entries (until) WHERE until IS NOT NULL;
CREATE INDEX kept ON entries (content) WHERE content IS NOT NULL;
CREATE TABLE restorations (path TEXT PRIMARY KEY, target INTEGER, now INTEGER, conversation TEXT NOT NULL) STRICT;
CREATE TABLE revision (number INTEGER NOT NULL) STRICT;
INSERT INTO revision VALUES (0);
`;
/** Since version 2. */
const REPORTS = `
CREATE TABLE reports (
  id INTEGER PRIMARY KEY, conversation TEXT NOT NULL, leaf TEXT NOT NULL, message TEXT NOT NULL, files TEXT NOT NULL,
  done INTEGER NOT NULL DEFAULT 0
) STRICT;
PRAGMA user_version = ${VERSION};
`;

/** Milliseconds to wait for another process that uses the file, and between two attempts. */
const LONGEST_WAIT = 60_000;
const WAIT = 8;
/** https://sqlite.org/rescode.html */
const [BUSY, CORRUPT, NO_DATABASE] = [5, 11, 26];
/**
 * Opens or creates the database of a content store, with a lock that the system releases if the process dies. Waits
 * while another process uses the file. Puts a damaged file aside.
 */
export async function openDatabase(file: string): Promise<DatabaseSync> {
  const until = Date.now() + LONGEST_WAIT;
  for (let attempts = 0; ; attempts++) {
    try {
      return openLocked(file);
    } catch (error) {
      const code = error instanceof Error && "errcode" in error ? error.errcode : undefined;
      if (code === BUSY && Date.now() < until) await after(WAIT);
      else if ((code === CORRUPT || code === NO_DATABASE) && attempts < 100) putAside(file);
      else throw storeError(file, error);
    }
  }
}

function openLocked(file: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  createFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // With tables in the file, this would write at each opening.
    if (statSync(file).size === 0) database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    // The lock stays until the file is closed, also between transactions.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
    if (version > VERSION) throw new Error("a newer version of the program wrote it");
    // An opening with one write flushes four times. With a rollback journal it would flush six times.
    database.exec("PRAGMA journal_mode = WAL");
    if (version < VERSION) database.exec(`BEGIN; ${version === 0 ? SCHEMA : ""} ${REPORTS} COMMIT`);
    // Another process may have removed the file before the lock.
    if (!existsSync(file)) throw Object.assign(new Error("The file was removed."), { errcode: BUSY });
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Keeps a damaged file, for users who know SQLite, without its unfinished writes. */
function putAside(file: string): void {
  renameSync(file, `${file}.damaged`);
  for (const unfinished of ["-wal", "-journal"]) rmSync(`${file}${unfinished}`, { force: true });
}

/** Never opens an existing file: closing it would release a lock of this process (POSIX). */
function createFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function storeError(file: string, cause: unknown): WorkspaceError {
  const reason = systemCode(cause) ?? errorMessage(cause);
  return new WorkspaceError("system", `The snapshots of the workspace in ${file} cannot be used (${reason}).`, {
    cause,
  });
}

import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createId } from "@banyan/core";
import { createDatabaseFile, openSqliteFile } from "./database.ts";
import { isDamage, sqliteStoreError } from "./error.ts";

/**
 * Shows that a store is open: an empty file that SQLite keeps locked. The system releases the lock when the process
 * ends in any way. Each store has one lock, so that files can be closed and reopened. Lock names are never reused. No
 * other code of this process may open the file: closing a second handle would release the lock (POSIX).
 */
export class ProcessLock {
  readonly name: string;
  readonly #file: string;
  readonly #database: DatabaseSync;

  private constructor(name: string, file: string, database: DatabaseSync) {
    this.name = name;
    this.#file = file;
    this.#database = database;
  }

  /** Also removes the locks of dead processes. */
  static take(directory: string): ProcessLock {
    for (;;) {
      const name = createId();
      const file = writerLockFile(directory, name);
      createDatabaseFile(file);
      const database = locked(file);
      if (database) {
        clearAway(directory, name);
        return new ProcessLock(name, file, database);
      }
    }
  }

  release(): void {
    this.#database.close();
    removeLockFile(this.#file);
  }
}

/** Returns whether the store with this lock is open in a running process. */
export function isHeld(directory: string, name: string): boolean {
  return !clearLockFile(writerLockFile(directory, name));
}

/** Returns `undefined` if another process removed the file before it was locked. */
function locked(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = openSqliteFile(file, { readOnly: false });
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    if (isLockFileThere(file)) return database;
    database.close();
    return;
  } catch (error) {
    database?.close();
    if (isLockFileThere(file)) throw error;
    return;
  }
}

function clearAway(directory: string, own: string): void {
  for (const entry of readdirSync(join(directory, "writers"))) {
    const name = /^([0-9a-z]+)\.lock$/.exec(entry)?.[1];
    if (name === undefined || name === own) continue;
    try {
      isHeld(directory, name);
    } catch {}
  }
}

/** Removes a lock's file unless a process holds the lock. Returns whether the file is gone. */
function clearLockFile(file: string): boolean {
  if (!isLockFileThere(file)) return true;
  let database: DatabaseSync | undefined;
  try {
    database = openSqliteFile(file, { readOnly: true });
    // Open for reading, so that several processes can check at once. A process that takes the lock waits for the
    // removal and detects it.
    database.exec("PRAGMA busy_timeout = 0; BEGIN; SELECT 1 FROM sqlite_schema");
    removeLockFile(file);
    return true;
  } catch (error) {
    if (sqliteStoreError(error, file).code === "locked") return false;
    if (!isDamage(error) && isLockFileThere(file)) throw error;
    removeLockFile(file);
    return true;
  } finally {
    database?.close();
  }
}

function writerLockFile(directory: string, name: string): string {
  return join(directory, "writers", `${name}.lock`);
}

function isLockFileThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

function removeLockFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {}
}

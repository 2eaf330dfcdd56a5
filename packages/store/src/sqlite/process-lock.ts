import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { createId } from "@banyan/core";
import { createFile, openDatabase } from "./database.ts";
import { isDamage, storeError } from "./error.ts";

/**
 * The sign that a store lives: an empty file that SQLite holds locked. The system takes the lock away with the process,
 * however that ends, so that neither a process id that was given again nor a clock can mislead.
 *
 * There is one for each store, not for each conversation: files can be closed and opened again under it. Its name is
 * never used twice. Nothing else in this process may open the file: to close it again would drop the lock (POSIX).
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

  /** Makes a lock in a store's directory, and clears away those that dead processes left. */
  static take(directory: string): ProcessLock {
    for (;;) {
      const name = createId();
      const file = fileOf(directory, name);
      createFile(file);
      const database = locked(file);
      if (database) {
        clearAway(directory, name);
        return new ProcessLock(name, file, database);
      }
    }
  }

  release(): void {
    this.#database.close();
    remove(this.#file);
  }
}

/** Whether the store that took a lock lives. */
export function isHeld(directory: string, name: string): boolean {
  return !clear(fileOf(directory, name));
}

/** The database of a new lock, held; nothing when another process cleared the file away before it was locked. */
function locked(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(file, { readOnly: false });
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    if (isThere(file)) return database;
    database.close();
    return;
  } catch (error) {
    database?.close();
    if (isThere(file)) throw error;
    return;
  }
}

function clearAway(directory: string, own: string): void {
  for (const entry of readdirSync(join(directory, "writers"))) {
    const name = /^([0-9a-z]+)\.lock$/.exec(entry)?.[1];
    if (name === undefined || name === own) continue;
    try {
      isHeld(directory, name);
    } catch {
      // Whoever needs to know of this lock is told then.
    }
  }
}

/** Removes a lock's file unless the lock is held. Returns whether it is gone. */
function clear(file: string): boolean {
  if (!isThere(file)) return true;
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(file, { readOnly: true });
    // For reading: many may look at once, and only the owner's lock keeps them out. Whoever is about to take the lock
    // waits until the file is removed, and sees that.
    database.exec("PRAGMA busy_timeout = 0; BEGIN; SELECT 1 FROM sqlite_schema");
    remove(file);
    return true;
  } catch (error) {
    if (storeError(error, file).code === "locked") return false;
    if (!isDamage(error) && isThere(file)) throw error;
    remove(file);
    return true;
  } finally {
    database?.close();
  }
}

function fileOf(directory: string, name: string): string {
  return join(directory, "writers", `${name}.lock`);
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // An empty file stays behind; nobody holds it, which is all that counts.
  }
}

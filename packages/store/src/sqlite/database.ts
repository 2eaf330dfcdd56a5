import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/**
 * Milliseconds to wait for another process's lock. Locks are held for the length of one append; who holds one for
 * longer hangs, and waiting blocks this process too.
 */
const BUSY_TIMEOUT = 2000;

/** Opens a database file that exists. `node:sqlite` is loaded here, with the first one. */
export async function openDatabase(file: string, options: { readonly readOnly: boolean }): Promise<DatabaseSync> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(file, { readOnly: options.readOnly, timeout: BUSY_TIMEOUT });
  try {
    // A file that somebody was given must not run functions of its own choice by way of a view or a trigger.
    database.exec("PRAGMA trusted_schema = OFF");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Makes an empty file, readable by its owner only, unless there is one; its directories too. SQLite gives the files
 * that it makes beside it the same mode.
 */
export function createFile(file: string): void {
  makeDirectory(dirname(file));
  try {
    // Exclusively: closing a file that SQLite has open would drop this process's locks on it (POSIX).
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function makeDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true, mode: 0o700 });
  // A power cut must not take a new directory away under the files in it. Windows cannot flush directories.
  if (first === undefined || process.platform === "win32") return;
  for (let made = directory; made.length >= first.length; made = dirname(made)) flushDirectory(dirname(made));
}

function flushDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
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

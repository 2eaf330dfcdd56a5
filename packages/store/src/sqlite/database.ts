import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/**
 * Milliseconds to wait for another process's lock. Locks are held for the length of one append; who holds one for
 * longer hangs, and waiting blocks this process too.
 */
const BUSY_TIMEOUT = 2000;

/**
 * Opens a database file that exists. `node:sqlite` is loaded here, with the first one, by Node's own way to import at
 * once: an append that finds its file closed must open it without a wait.
 */
export function openDatabase(file: string, options: { readonly readOnly: boolean }): DatabaseSync {
  // SQLite makes a file that is missing, unless it is told not to.
  return open(file, options.readOnly, { mode: options.readOnly ? "ro" : "rw" });
}

/** Opens a file as it is without the write-ahead log beside it, and without any lock. */
export function openAlone(file: string): DatabaseSync {
  return open(file, true, { mode: "ro", immutable: "1" });
}

/**
 * Looks at a conversation's file beside whoever writes to it. Where no write-ahead log stands beside it, nobody does, and
 * SQLite need not put one there; when somebody began meanwhile, `body` runs again. Throws what it throws.
 */
export function reading<T>(file: string, body: (database: DatabaseSync) => T): T {
  const stamp = closedStamp(file);
  if (stamp !== undefined) {
    const outcome = settled(() => {
      using database = openAlone(file);
      return body(database);
    });
    if (closedStamp(file) === stamp) return outcome();
  }
  using database = open(file, true, { mode: "ro" });
  return body(database);
}

/** What a file's time and size are while no write-ahead log stands beside it. */
function closedStamp(file: string): string | undefined {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })) return;
  const { mtimeNs, size } = statSync(file, { bigint: true });
  return `${mtimeNs}:${size}`;
}

/** Runs `body` now; the function that comes back answers or throws what it did. */
function settled<T>(body: () => T): () => T {
  try {
    const value = body();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function open(file: string, readOnly: boolean, parameters: Readonly<Record<string, string>>): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const address = pathToFileURL(file);
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const database = new DatabaseSync(address, { readOnly, timeout: BUSY_TIMEOUT });
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

export function flushDirectory(directory: string): void {
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

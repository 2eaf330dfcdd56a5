import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** Milliseconds to wait for another process's lock, which lasts for one append. Waiting also blocks this process. */
const BUSY_TIMEOUT = 2000;

/**
 * Opens an existing database file synchronously. An append that finds its file closed must not wait. `timeout`:
 * milliseconds to wait for another process's lock, by default 2,000.
 */
export function openSqliteFile(
  file: string,
  { readOnly, timeout }: { readonly readOnly: boolean; readonly timeout?: number },
): DatabaseSync {
  return openWithParameters(file, readOnly, { mode: readOnly ? "ro" : "rw" }, timeout);
}

/** Opens a database file for reading. Ignores the file's write-ahead log, and takes no lock. */
export function openAlone(file: string): DatabaseSync {
  return openWithParameters(file, true, { mode: "ro", immutable: "1" });
}

/** Reads a file that may have a writer. If a writer starts during `body`, runs `body` again. Throws `body`'s error. */
export function readBesideWriter<T>(file: string, body: (database: DatabaseSync) => T): T {
  const stamp = closedStamp(file);
  if (stamp !== undefined) {
    const outcome = settled(() => {
      using database = openAlone(file);
      return body(database);
    });
    if (closedStamp(file) === stamp) return outcome();
  }
  using database = openWithParameters(file, true, { mode: "ro" });
  return body(database);
}

/** Returns time and size of a file without a write-ahead log; `undefined` if there is a log. */
function closedStamp(file: string): string | undefined {
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })) return;
  const { mtimeNs, size } = statSync(file, { bigint: true });
  return `${mtimeNs}:${size}`;
}

/** Runs `body` at once. The returned function returns its value or throws its error. */
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

function openWithParameters(
  file: string,
  readOnly: boolean,
  parameters: Readonly<Record<string, string>>,
  timeout = BUSY_TIMEOUT,
): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const address = pathToFileURL(file);
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const database = new DatabaseSync(address, { readOnly, timeout });
  try {
    // A file from another source must not run functions through its views or triggers.
    database.exec("PRAGMA trusted_schema = OFF");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Prepares a statement whose rows are arrays. Node 22 has no such option of `prepare`. */
export function prepareForArrays(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** Creates an empty file that only its owner can read, with its directories, unless the file exists. */
export function createDatabaseFile(file: string): void {
  makeDirectory(dirname(file));
  try {
    // Create exclusively: closing a file that SQLite has open would release this process's locks on the file (POSIX).
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Creates a directory that only its owner can read, with the directories above it. Their names are flushed. */
export function makeDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true, mode: 0o700 });
  // A power cut must not remove a new directory with its files. Windows cannot flush directories.
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

/** Runs `body` in a write transaction, which an error rolls back. */
export function inSqliteTransaction<T>(database: DatabaseSync, body: () => T): T {
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

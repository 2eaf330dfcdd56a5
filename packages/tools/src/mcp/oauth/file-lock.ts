import { closeSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** Milliseconds between two attempts to take a lock. */
const PAUSE = 20;
/** SQLite's code for a lock that another connection holds. */
const BUSY = 5;

/**
 * Waits until no other holder has the lock of this file, and takes the lock. Dispose of the result to release the lock
 * and remove the file. Rejects when the signal aborts.
 *
 * SQLite locks the file. So the system releases the lock of a killed process at once, a slow holder keeps its lock, and
 * two holders of one process exclude each other too.
 */
export async function lockFile(file: string, signal: AbortSignal): Promise<Disposable> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    const lock = tryLock(file);
    if (lock) return lock;
    await sleep(PAUSE, undefined, { signal });
  }
}

/** Returns undefined if another holder has the lock, or removed the file meanwhile. */
function tryLock(file: string): Disposable | undefined {
  create(file);
  const created = inodeOf(file);
  let database: DatabaseSync | undefined;
  try {
    database = open(file);
    database.exec("BEGIN EXCLUSIVE");
    const locked = database;
    // Otherwise this locked a file that its holder has just removed, and the next holder locks a new file.
    if (inodeOf(file) === created)
      return {
        [Symbol.dispose]() {
          remove(file);
          locked.close();
        },
      };
  } catch (error) {
    const isBusy = error instanceof Error && "errcode" in error && error.errcode === BUSY;
    if (!isBusy && inodeOf(file) !== undefined) throw error;
  }
  database?.close();
  return undefined;
}

/** Creates the file. Opening an existing file here and closing it would release its lock for this process (POSIX). */
function create(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function open(file: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const address = pathToFileURL(file);
  // SQLite would create a missing file by default.
  address.searchParams.set("mode", "rw");
  return new DatabaseSync(address, { timeout: 0 });
}

function inodeOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Windows keeps a file that a waiting process has open. An empty file remains, which has no effect without a lock.
  }
}

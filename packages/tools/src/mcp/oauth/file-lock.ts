import { closeSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const PAUSE = 20;
const BUSY = 5;

/**
 * Waits until the lock of a file is free, and takes it. Disposing of the result releases the lock and removes the file.
 * Rejects when the signal aborts. The lock is a lock of SQLite. The system therefore releases the lock of a killed
 * process at once, a slow holder keeps its lock, and two holders in one process also exclude each other.
 */
export async function lockFile(file: string, signal: AbortSignal): Promise<Disposable> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    const lock = tryLock(file);
    if (lock) return lock;
    await sleep(PAUSE, undefined, { signal });
  }
}

/** Returns undefined if the lock is taken, or its holder removed the file meanwhile. */
function tryLock(file: string): Disposable | undefined {
  create(file);
  const created = inodeAndBirth(file);
  let database: DatabaseSync | undefined;
  try {
    database = open(file);
    database.exec("BEGIN EXCLUSIVE");
    const locked = database;
    // The identity differs if the last holder just removed the file: the next holder then locks a new file.
    if (inodeAndBirth(file) === created)
      return {
        [Symbol.dispose]() {
          remove(file);
          locked.close();
        },
      };
  } catch (error) {
    const isBusy = error instanceof Error && "errcode" in error && error.errcode === BUSY;
    // A file that was removed meanwhile cannot be opened, even if another program has created the file again.
    if (!isBusy && created !== undefined && inodeAndBirth(file) === created) throw error;
  }
  database?.close();
  return undefined;
}

/** Creates the file. Opening and closing an existing file here would release this process's lock on the file (POSIX). */
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
  address.searchParams.set("mode", "rw");
  return new DatabaseSync(address, { timeout: 0 });
}

/** Returns the inode and the time of creation, because a file system may use the inode of a removed file again. */
function inodeAndBirth(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.birthtimeNs}`;
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Windows keeps a file that a waiting process has open. The remaining empty file locks nothing.
  }
}

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { errorMessage } from "@banyan/core/shown";
import { contentDigest } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import type { Workspace } from "../files/paths.ts";

/** One file in the record of a change of several files. */
export interface IntendedFile {
  readonly path: string;
  /** The digest of the previous content, which the backups keep; `null`: no file. */
  readonly before: string | null;
  readonly after: string;
  readonly temporary: string;
}

/**
 * The record of a change of several files. It is written before the first file changes, and removed after the last. The
 * process keeps a lock on its record. If the process ends halfway, the record has no lock any more, and the next
 * process that finds the record undoes the change. Disposing before `end` leaves the record in place. The record is a
 * locked SQLite file: the system releases the lock when the process ends in any way, so reused process ids and wrong
 * clocks do no harm. No other code of this process may open the file: closing the second handle would release the lock
 * (POSIX).
 */
export interface ChangeIntent extends AsyncDisposable {
  readonly files: readonly IntendedFile[];
  /** Removes the record. Resolves when the removal would survive a power cut. */
  end(): Promise<void>;
}

/** Writes the record of a change. Resolves when it survives a power cut. Throws a `WorkspaceError` on failure. */
export async function writeIntent(
  { root }: Workspace,
  backups: string,
  files: readonly IntendedFile[],
): Promise<ChangeIntent> {
  const folder = folderIn(backups);
  const name = randomUUID();
  // The file is complete and locked before it gets its name. `pruneBackups` removes the files of crashed processes.
  const temporary = join(backups, `.${name}.tmp`);
  const file = join(folder, startOfNames(root) + name);
  let database: DatabaseSync | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await (await open(temporary, "wx", 0o600)).close();
    database = openIntentFile(temporary);
    database.exec(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL; BEGIN;" +
        "CREATE TABLE files (path TEXT NOT NULL, before TEXT, after TEXT NOT NULL, temporary TEXT NOT NULL) STRICT",
    );
    const insert = database.prepare("INSERT INTO files VALUES (?, ?, ?, ?)");
    for (const each of files) insert.run(each.path, each.before, each.after, each.temporary);
    database.exec("COMMIT; BEGIN EXCLUSIVE");
    await rename(temporary, file);
    await flush(folder);
    return heldIntent(file, folder, database, files);
  } catch (error) {
    await Promise.allSettled([rm(temporary, { force: true }), rm(file, { force: true })]);
    database?.close();
    throw notNoted(folder, error);
  }
}

function notNoted(folder: string, cause: unknown): WorkspaceError {
  return new WorkspaceError(
    "system",
    `Nothing was written, because the changes could not first be recorded in ${folder} (${errorMessage(cause)}).`,
    { cause },
  );
}

/** Returns the record files of all processes for a workspace. */
export async function intentsIn({ root }: Workspace, backups: string): Promise<string[]> {
  const folder = folderIn(backups);
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith(startOfNames(root))).map((name) => join(folder, name));
}

/**
 * Takes over the record of an ended process. Undefined if the process still runs, or if the change is settled or being
 * settled. Throws SQLite's error if the file is unreadable.
 */
export function takeIntent(backups: string, file: string): ChangeIntent | undefined {
  let database: DatabaseSync | undefined;
  let intent: ChangeIntent | undefined;
  try {
    database = openIntentFile(file);
    database.exec("BEGIN EXCLUSIVE");
    // Another process may have settled the change before the lock.
    if (!existsSync(file)) return undefined;
    const files = database.prepare("SELECT path, before, after, temporary FROM files").all();
    intent = heldIntent(file, folderIn(backups), database, files as unknown as IntendedFile[]);
    return intent;
  } catch (error) {
    if (isBusy(error) || !existsSync(file)) return undefined;
    throw error;
  } finally {
    if (!intent) database?.close();
  }
}

function heldIntent(
  file: string,
  folder: string,
  database: DatabaseSync,
  files: readonly IntendedFile[],
): ChangeIntent {
  return {
    files,
    async end() {
      await rm(file);
      await flush(folder);
    },
    async [Symbol.asyncDispose]() {
      database.close();
    },
  };
}

/** Opens an existing file without waiting for a lock. SQLite would create a missing file. */
function openIntentFile(file: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const address = pathToFileURL(file);
  address.searchParams.set("mode", "rw");
  return new DatabaseSync(address, { timeout: 0 });
}

/** SQLITE_BUSY, https://sqlite.org/rescode.html */
function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === 5;
}

function folderIn(backups: string): string {
  return join(backups, "intents");
}

/** Each workspace has its own prefix, so that no file is restored into another workspace. */
function startOfNames(root: string): string {
  return `${contentDigest(Buffer.from(root))}.`;
}

async function flush(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

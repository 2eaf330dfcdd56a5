import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { digestOf } from "../files/backups.ts";
import { messageOf, WorkspaceError } from "../files/error.ts";
import type { Workspace } from "../files/paths.ts";

/** A file that is replaced together with others: all of them or none. */
export interface IntendedFile {
  /** From the root. */
  readonly path: string;
  /** The digest of what was there, which is kept in the backups; `null` for no file. */
  readonly before: string | null;
  /** The digest of what it is to hold. */
  readonly after: string;
  /** The name of the file beside it that holds the new content until it takes its place. */
  readonly temporary: string;
}

/**
 * What is about to be done to several files: written down before the first of them is touched, and removed after the last.
 * While it is held, its process lives; one that nobody holds was left by a process that ended in between, and whoever
 * finds it settles it. Disposed of before its end, it is left like that.
 *
 * It is a file of SQLite that is kept locked: the system takes the lock away with the process, however that ends, so that
 * neither a process id that was given again nor a clock can mislead. Nothing else in this process may open the file: to
 * close it again would drop the lock (POSIX).
 */
export interface Intent extends AsyncDisposable {
  readonly files: readonly IntendedFile[];
  /** Nothing is left to settle; resolves once that would survive a power cut. */
  end(): Promise<void>;
}

/**
 * Writes down what is about to be done. Resolves once that would survive a power cut; throws a `WorkspaceError` when it
 * cannot be written.
 */
export async function writeIntent(
  { root }: Workspace,
  backups: string,
  files: readonly IntendedFile[],
): Promise<Intent> {
  const folder = folderIn(backups);
  const name = randomUUID();
  // Whole and locked before it has its name; `pruneBackups` removes what a process leaves behind that ends before that.
  const temporary = join(backups, `.${name}.tmp`);
  const file = join(folder, startOfNames(root) + name);
  let database: DatabaseSync | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await (await open(temporary, "wx", 0o600)).close();
    database = openDatabase(temporary);
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
    `Nothing was written: the changes could not be noted in ${folder} first (${messageOf(cause)}).`,
    { cause },
  );
}

/** The intents of all processes for a workspace, by their files. */
export async function intentsIn({ root }: Workspace, backups: string): Promise<string[]> {
  const folder = folderIn(backups);
  // As a rule there has never been one, and so no folder.
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith(startOfNames(root))).map((name) => join(folder, name));
}

/**
 * Takes an intent over from a process that is gone; nothing when its process lives, when somebody else settles it, or when
 * it has been settled. Throws what SQLite says of a file that cannot be read.
 */
export function takeIntent(backups: string, file: string): Intent | undefined {
  let database: DatabaseSync | undefined;
  let intent: Intent | undefined;
  try {
    database = openDatabase(file);
    database.exec("BEGIN EXCLUSIVE");
    // Somebody may have settled it before it was locked here.
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

function heldIntent(file: string, folder: string, database: DatabaseSync, files: readonly IntendedFile[]): Intent {
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

/** Opens a file that exists: SQLite would make one that is missing. It never waits for a lock. */
function openDatabase(file: string): DatabaseSync {
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

/** Each workspace has its own, so that nothing is ever put back in another one. */
function startOfNames(root: string): string {
  return `${digestOf(Buffer.from(root))}.`;
}

/** What was named or removed in a folder survives a power cut. */
async function flush(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

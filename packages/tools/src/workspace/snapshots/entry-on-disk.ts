import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readlink, unlink } from "node:fs/promises";
import { systemCode } from "../files/error.ts";
import type { Entry, FileStamp } from "./snapshot-file.ts";

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Rethrows an error, unless the error says that the file is missing. */
export function ignoreMissing(error: unknown): void {
  if (systemCode(error) !== "ENOENT") throw error;
}

/** Returns undefined if the path is missing. */
export async function statsAt(at: string): Promise<Stats | undefined> {
  return lstat(at).catch((error: unknown) => {
    ignoreMissing(error);
    return undefined;
  });
}

export function entryKindOf(stats: Stats): Entry["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "special";
}

/** Returns whether a file is surely as recorded, without reading it, or a folder has its recorded names. */
export function hasStampOf(stats: Stats, { stamp }: Entry): boolean {
  return !stamp.isFresh && hasStamp(stamp, stats);
}

export function hasStamp({ inode, size, modified, changed }: FileStamp, stats: Stats): boolean {
  return size === stats.size && modified === stats.mtimeMs && changed === stats.ctimeMs && inode === stats.ino;
}

export function isSameStamp(one: FileStamp, other: FileStamp): boolean {
  return (
    one.inode === other.inode &&
    one.size === other.size &&
    one.modified === other.modified &&
    one.changed === other.changed &&
    one.isFresh === other.isFresh
  );
}

/** Returns whether a file has this content, or a link this target. */
export async function hasBytes(at: string, stats: Stats, bytes: Buffer): Promise<boolean> {
  if (stats.isSymbolicLink()) return (await readlink(at, { encoding: "buffer" })).equals(bytes);
  if (!stats.isFile() || stats.size !== bytes.length) return false;
  const handle = await openUnlessDenied(at);
  try {
    return (await handle?.readFile())?.equals(bytes) ?? false;
  } finally {
    await handle?.close();
  }
}

/** Returns false for a file that its own owner has no permission to open. */
export async function setFileMode(at: string, mode: number): Promise<boolean> {
  const handle = await openUnlessDenied(at);
  try {
    await handle?.chmod(mode);
    return handle !== undefined;
  } finally {
    await handle?.close();
  }
}

/** Returns false for a file that its own owner has no permission to open. */
export async function canOpen(at: string): Promise<boolean> {
  const handle = await openUnlessDenied(at);
  await handle?.close();
  return handle !== undefined;
}

async function openUnlessDenied(at: string): Promise<FileHandle | undefined> {
  return open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    if (systemCode(error) !== "EACCES") throw error;
    return undefined;
  });
}

/** Writes a new file, durably, or leaves none. */
export async function writeNewFile(at: string, bytes: Buffer, mode: number): Promise<void> {
  const handle = await open(at, CREATE, 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode);
    await handle.sync();
  } catch (error) {
    await unlink(at).catch(ignoreMissing);
    throw error;
  } finally {
    await handle.close();
  }
}

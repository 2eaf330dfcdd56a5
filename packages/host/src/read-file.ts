import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** What a file holds, or why it cannot be said; `absent` when there is none. */
export type FileContent =
  | { readonly state: "absent" }
  | {
      readonly state: "read";
      /** Its first bytes. */
      readonly bytes: Buffer;
      /** Bytes of the whole file. */
      readonly size: number;
    }
  | { readonly state: "unreadable"; readonly problem: string };

/**
 * Reads a file that somebody else may have put there: at most so many bytes of it, and only of a regular file, so that
 * a device or a pipe in its place is not waited for. Links are followed. Throws nothing.
 */
export function readFileStart(file: string, most: number): FileContent {
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    const isAbsent = code === "ENOENT" || code === "ENOTDIR";
    return isAbsent ? { state: "absent" } : { state: "unreadable", problem: `it cannot be read (${code})` };
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return { state: "unreadable", problem: "it is not a file" };
    const bytes = Buffer.alloc(Math.min(stats.size, most));
    let filled = 0;
    for (let read = -1; read !== 0 && filled < bytes.length; filled += read)
      read = readSync(handle, bytes, filled, bytes.length - filled, filled);
    return { state: "read", bytes: bytes.subarray(0, filled), size: stats.size };
  } catch (error) {
    return { state: "unreadable", problem: `it cannot be read (${codeOf(error)})` };
  } finally {
    closeSync(handle);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { leadsInto } from "./project.ts";

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
 * a device or a pipe in its place is not waited for. Links are followed, but with `within` not out of that folder: where
 * the opened file lies is looked at, not where its path led a moment before (S21). Throws nothing.
 */
export function readFileStart(file: string, most: number, within?: string): FileContent {
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
    const place = within === undefined ? undefined : placeOf(handle, file);
    if (place !== undefined && !leadsInto(within as string, place))
      return { state: "unreadable", problem: `it leads out of the project, to ${place}, so it is not read` };
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

/** The text of a file in UTF-8 or UTF-16, without its byte order mark; nothing where the bytes are no such text. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The beginning of a text in bytes, up to the end of its last whole line. */
export function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf("\n") + 1;
  return bytes.subarray(0, encodingOf(bytes) === "utf-8" ? end : end + (end % 2));
}

/** By the byte order mark; without one, a text in UTF-16 of mostly Latin letters has a zero in each pair of bytes. */
function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? "utf-16be" : "utf-8";
}

/** Where an opened file lies; by its path where the system does not tell it of a descriptor. */
function placeOf(handle: number, file: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${handle}`);
  } catch {
    return realpathSync(file);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

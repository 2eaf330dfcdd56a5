import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { pathLeadsInto } from "./project.ts";

/** The content of a file, or why it cannot be read. */
export type FileReadResult =
  | { readonly state: "absent" }
  | {
      readonly state: "read";
      readonly bytes: Buffer;
      /** The size of the whole file in bytes. */
      readonly size: number;
    }
  | { readonly state: "unreadable"; readonly problem: string };

/**
 * Reads at most `most` bytes of a file that another user may have put there. Reads only regular files, because a device
 * or pipe could block. With `within`, follows links only inside that folder. Checks the opened file, not the path
 * before opening it (S21). Never throws.
 */
export function readFileStart(file: string, most: number, within?: string): FileReadResult {
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    const isAbsent = code === "ENOENT" || code === "ENOTDIR";
    return isAbsent ? { state: "absent" } : { state: "unreadable", problem: `it cannot be read (${code})` };
  }
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) return { state: "unreadable", problem: "it is not a file" };
    const place = within === undefined ? undefined : openedPath(handle, file);
    if (place !== undefined && !pathLeadsInto(within as string, place))
      return { state: "unreadable", problem: `not read: the path leads out of the project, to ${place}` };
    const bytes = Buffer.alloc(Math.min(stats.size, most));
    let filled = 0;
    for (let read = -1; read !== 0 && filled < bytes.length; filled += read)
      read = readSync(handle, bytes, filled, bytes.length - filled, filled);
    return { state: "read", bytes: bytes.subarray(0, filled), size: stats.size };
  } catch (error) {
    return { state: "unreadable", problem: `it cannot be read (${systemErrorCode(error)})` };
  } finally {
    closeSync(handle);
  }
}

/** Decodes UTF-8 or UTF-16 without its byte order mark; undefined for other bytes. */
export function decodeUtfText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the bytes up to the end of the last whole line. */
export function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf("\n") + 1;
  return bytes.subarray(0, encodingOf(bytes) === "utf-8" ? end : end + (end % 2));
}

/** Without a byte order mark, UTF-16 of mostly Latin letters has a zero in each pair of bytes. */
function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? "utf-16be" : "utf-8";
}

/** By its name if the system cannot resolve a descriptor. */
function openedPath(handle: number, file: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${handle}`);
  } catch {
    return realpathSync(file);
  }
}

function systemErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

/** Returns the sorted names in a folder, or no names for a missing or unreadable folder. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    // Callers treat an unreadable folder like a missing one.
    return [];
  }
}

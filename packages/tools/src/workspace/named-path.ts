import { lstatSync } from "node:fs";
import { isAbsolute, sep } from "node:path";
import { WorkspaceError } from "./error.ts";

/** What the text of a path is read from. Both are absolute. */
export interface PathBase {
  /** The folder that relative paths start from. */
  readonly root: string;
  /** The folder that `~` and `$HOME` stand for. */
  readonly home: string;
}

/** Texts that may mean another path than the one they spell. */
const SPECIAL = /^(?:[~$]|file:[\\/])|\\/i;
const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=[\\/]|$)/;
const USER = /^~[A-Za-z_][\w.-]*(?=[\\/]|$)/;
const FILE_URL = /^file:(?:\/\/([^/]*))?(?=\/)/i;
const DRIVE = /^[A-Za-z]:[\\/]+/;

/**
 * Returns the path that a text means, as the operating system spells paths (S35). Tools, rules, questions and users share
 * this meaning:
 *
 * - `~`, `$HOME` and `${HOME}` at the start are the home folder, and a `file://` address is the file that it names.
 * - Where `\` does not separate folders, it still does so in a path, unless a file of that literal name exists.
 *
 * The result means itself: `meantPath` leaves it as it is. Throws a `WorkspaceError` with code `path` for a text that names no
 * place of this machine: `~user`, a drive letter, a share or an address of another machine.
 */
export function meantPath(named: string, { root, home }: PathBase): string {
  const isWindows = process.platform === "win32";
  if (!SPECIAL.test(named) && (isWindows || !DRIVE.test(named))) return named;
  const path = expandHome(fromAddress(named), home);
  const [user] = USER.exec(path) ?? [];
  if (user !== undefined && !exists(root, user)) {
    throw noPlace(
      `${named} names the home folder of another user, and only your own, ~, is known here. Write the whole path, or ./${path} for a file of that name.`,
    );
  }
  if (isWindows) return path;
  if (DRIVE.test(path) || path.startsWith("\\\\")) throw ofWindows(named, path);
  const last = path.indexOf("/", path.lastIndexOf("\\"));
  if (!path.includes("\\") || exists(root, last === -1 ? path : path.slice(0, last))) return path;
  return path.replaceAll("\\", "/");
}

/** The path without `~`, `$HOME` or `${HOME}` at its start: `home` takes their place. */
export function expandHome(path: string, home: string): string {
  return path.replace(HOME, () => home);
}

/** The path of a `file:` address; any other text as it is. */
function fromAddress(named: string): string {
  const address = /^file:[\\/]/i.test(named) ? named.replaceAll("\\", "/") : named;
  const [start, host = ""] = FILE_URL.exec(address) ?? [];
  if (start === undefined) return named;
  const rest = address.slice(start.length);
  if (host !== "" && host.toLowerCase() !== "localhost") {
    throw noPlace(
      `${named} names a file of the machine ${host}. Write the path alone: ${host}${rest}, or file://${rest} for one that starts at the root.`,
    );
  }
  if (/[?#]/.test(rest) || /%(?:2f|5c|00)/i.test(rest)) throw noAddress(named);
  let path: string;
  try {
    path = decodeURIComponent(rest);
  } catch (cause) {
    throw noAddress(named, cause);
  }
  return DRIVE.test(path.slice(1)) ? path.slice(1) : path;
}

function noAddress(named: string, cause?: unknown): WorkspaceError {
  return noPlace(
    `${named} is no address of a file: it has a ?, a #, a % that stands for no character, or an escaped separator. Write the path alone.`,
    cause,
  );
}

function ofWindows(named: string, path: string): WorkspaceError {
  const rest = path.replace(DRIVE, "").replaceAll("\\", "/").replace(/^\/+/, "");
  return noPlace(
    `${named} names a drive or a share of Windows, and there is none here. Name the file from the workspace, such as ${rest || "."}.`,
  );
}

function noPlace(message: string, cause?: unknown): WorkspaceError {
  return new WorkspaceError("path", message, cause === undefined ? {} : { cause });
}

function exists(root: string, path: string): boolean {
  try {
    return lstatSync(isAbsolute(path) ? path : root + sep + path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // No file can have the name, or the system does not let it be looked at.
    return false;
  }
}

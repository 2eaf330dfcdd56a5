import { lstatSync, readdirSync } from "node:fs";
import { isAbsolute, sep } from "node:path";
import { nearest } from "@banyan/core/shown";
import { WorkspaceError } from "./error.ts";
import { FoldedText } from "./folded-text.ts";

/** What the text of a path is read from. Both are absolute. */
export interface PathBase {
  /** The folder that relative paths start from. */
  readonly root: string;
  /** The folder that `~` and `$HOME` stand for. */
  readonly home: string;
}

/** Texts that may mean another path than the one they spell. */
const SPECIAL = /^(?:[~$]|file:[\\/]|".+"$)|\\/is;
const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=[\\/]|$)/;
const USER = /^~[A-Za-z_][\w.-]*(?=[\\/]|$)/;
const FILE_URL = /^file:(?:\/\/([^/]*))?(?=\/)/i;
const QUOTED = /^"(.+)"$/s;
const DRIVE = /^[A-Za-z]:[\\/]+/;

/** Only a name with blanks, quotes, dashes or characters beyond ASCII can have another that looks like it. */
const HAS_LOOK_ALIKES = /[^!-~]|['"-]/;

/** Names of a folder that are compared with one that is not there. */
const MOST_COMPARED = 5000;

/**
 * Returns the path that a text means, as the operating system spells paths (S35). Tools, rules, questions and users share
 * this meaning:
 *
 * - `~`, `$HOME` and `${HOME}` at the start are the home folder, and a `file://` address is the file that it names.
 * - Where `\` does not separate folders, it still does so in a path, unless a file of that literal name exists.
 * - A text in double quotes is the path in them, with the escapes of JSON where that names a file: so listings write odd names.
 * - A name that does not exist is the one in its folder that is the same apart from look-alikes (F81), if there is exactly one.
 *
 * The result means itself: `meantPath` leaves it as it is. Throws a `WorkspaceError` with code `path` for a text that names no
 * place of this machine: `~user`, a drive letter, a share or an address of another machine.
 */
export function meantPath(named: string, base: PathBase): string {
  return lookAlikePath(base.root, spelledPath(named, base));
}

/** The path that a text spells. */
function spelledPath(named: string, { root, home }: PathBase): string {
  const isWindows = process.platform === "win32";
  if (!SPECIAL.test(named) && (isWindows || !DRIVE.test(named))) return named;
  const path = expandHome(fromAddress(unquoted(named, root)), home);
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

/** The text in double quotes, as often as a text has them; one that a file has in its name stays. */
function unquoted(named: string, root: string): string {
  for (let path = named; ; ) {
    const [, inner] = QUOTED.exec(path) ?? [];
    if (inner === undefined || exists(root, lookAlikePath(root, path))) return path;
    try {
      const read: unknown = JSON.parse(path);
      path = typeof read === "string" && exists(root, read) ? read : inner;
    } catch {
      // The text in the quotes is no JSON: its backslashes are meant as they are.
      path = inner;
    }
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** The names of files that would be read as the home folder, an address or a drive. */
const MEANS_ELSEWHERE = /^(?:(?:~|\$HOME|\$\{HOME\})(?:$|\/)|file:\/|[A-Za-z]:[\\/])/i;

/**
 * A path as listings show it, which means the same path (S35): on one line, as a JSON string where a character would end the line or
 * turn the letters around, and behind `./` where it would mean another place.
 */
export function shownPath(path: string): string {
  if (MEANS_ELSEWHERE.test(path)) return shownPath(`./${path}`);
  if (path.search(CONTROLS) < 0 && !/^["\s]|["\s]$/.test(path)) return path;
  return JSON.stringify(path).replace(CONTROLS, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** A name or a path as it is compared with others that look like it (F81). */
export function foldedName(name: string): string {
  return new FoldedText(name, { startsInLine: true }).text;
}

/** The path with names that exist, where those of a text only look like them. */
function lookAlikePath(root: string, path: string): string {
  if (!HAS_LOOK_ALIKES.test(path) || exists(root, path)) return path;
  const parts = path.split("/");
  for (const [index, part] of parts.entries()) {
    const above = parts.slice(0, index).join("/") || (path.startsWith("/") ? "/" : ".");
    if (part === "" || exists(root, parts.slice(0, index + 1).join("/") || "/")) continue;
    const wanted = foldedName(part);
    const alike = HAS_LOOK_ALIKES.test(part) ? namesIn(root, above).filter((name) => foldedName(name) === wanted) : [];
    const [only] = alike;
    if (only === undefined || alike.length > 1) break;
    parts[index] = only;
  }
  return parts.join("/");
}

/** A sentence that names what may have been meant by a path which does not exist, as in "Did you mean src/a.ts?"; or nothing. */
export function adviceOnPath(root: string, path: string): string {
  const parts = path.split("/");
  const missing = parts.findIndex((_, index) => !exists(root, parts.slice(0, index + 1).join("/") || "/"));
  const above = parts.slice(0, missing);
  const names = namesIn(root, above.join("/") || (path.startsWith("/") ? "/" : "."));
  const meant = nearest(parts[missing] ?? "", names.slice(0, MOST_COMPARED)).map((name) => {
    const whole = [...above, name, ...parts.slice(missing + 1)].join("/");
    return exists(root, whole) ? whole : [...above, name].join("/");
  });
  return meant.length === 0 ? "" : `Did you mean ${meant.map(shownPath).join(" or ")}?`;
}

/** The names in a folder; none where it cannot be read. */
function namesIn(root: string, folder: string): string[] {
  try {
    return readdirSync(isAbsolute(folder) ? folder : root + sep + folder);
  } catch {
    // It is no folder, or the system does not let it be looked at.
    return [];
  }
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

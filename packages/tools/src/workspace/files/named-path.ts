import { lstatSync, readdirSync } from "node:fs";
import { isAbsolute, sep } from "node:path";
import { nearest } from "@banyan/core/shown";
import { WorkspaceError } from "./error.ts";
import { FoldedText } from "./folded-text.ts";

/** The folders that a path in a text refers to. Both are absolute. See {@link meantPath}. */
export interface PathBase {
  /** The folder to which relative paths refer. */
  readonly root: string;
  /** The folder of `~` and `$HOME`. */
  readonly home: string;
}

/** Matches texts that may mean another path than the literal one. */
const SPECIAL = /^(?:[~$]|file:[\\/]|".+"$)|\\/is;
const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=[\\/]|$)/;
const USER = /^~[A-Za-z_][\w.-]*(?=[\\/]|$)/;
const FILE_URL = /^file:(?:\/\/([^/]*))?(?=\/)/i;
const QUOTED = /^"(.+)"$/s;
const DRIVE = /^[A-Za-z]:[\\/]+/;

/** Only a name with blanks, quotes, dashes or characters outside ASCII can have look-alikes. */
const HAS_LOOK_ALIKES = /[^!-~]|['"-]/;

const MOST_COMPARED = 5000;

/**
 * Returns the path that a text means, in the operating system's notation (S35). Tools, rules, approvals and users share
 * this meaning:
 * - `~`, `$HOME` and `${HOME}` at the start are the home folder. A `file://` address is the file that it names.
 * - `\` separates folders on every system, unless a file with the literal name exists.
 * - Double quotes around a path are removed. A JSON string that names a file is decoded, because listings quote unusual
 * names.
 * - If no file has the name, and exactly one name in its folder differs only in look-alike characters, that name is
 * meant (F81). Applying `meantPath` to its result changes nothing. Throws a `WorkspaceError` with code `path` for
 * `~user`, a drive letter, a share or an address of another machine.
 * @example meantPath("~/notes.md", { root: "/work", home: "/home/me" }) // "/home/me/notes.md"
 */
export function meantPath(named: string, base: PathBase): string {
  return lookAlikePath(base.root, spelledPath(named, base));
}

function spelledPath(named: string, { root, home }: PathBase): string {
  const isWindows = process.platform === "win32";
  if (!SPECIAL.test(named) && (isWindows || !DRIVE.test(named))) return named;
  const path = expandHome(fromAddress(unquotedPath(named, root)), home);
  const [user] = USER.exec(path) ?? [];
  if (user !== undefined && !isPathThere(root, user)) {
    throw noPlace(
      `${named} is the home folder of another user, but only your own, ~, is known here. Write the whole path, or ./${path} for a file of that name.`,
    );
  }
  if (isWindows) return path;
  if (DRIVE.test(path) || path.startsWith("\\\\")) throw ofWindows(named, path);
  const last = path.indexOf("/", path.lastIndexOf("\\"));
  if (!path.includes("\\") || isPathThere(root, last === -1 ? path : path.slice(0, last))) return path;
  return path.replaceAll("\\", "/");
}

/** Removes double quotes, repeatedly. Quotes stay if they are part of an existing file's name. */
function unquotedPath(named: string, root: string): string {
  for (let path = named; ; ) {
    const [, inner] = QUOTED.exec(path) ?? [];
    if (inner === undefined || isPathThere(root, lookAlikePath(root, path))) return path;
    try {
      const read: unknown = JSON.parse(path);
      path = typeof read === "string" && isPathThere(root, read) ? read : inner;
    } catch {
      // The quoted text is no JSON: its backslashes are literal.
      path = inner;
    }
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Matches file names that would be read as the home folder, an address or a drive. */
const MEANS_ELSEWHERE = /^(?:(?:~|\$HOME|\$\{HOME\})(?:$|\/)|file:\/|[A-Za-z]:[\\/])/i;

/**
 * Returns a path on one line, for listings. Reading the line again gives the same path (S35): the path becomes a JSON
 * string if a character would break the line or reverse the text, and gets a leading `./` if it would mean another
 * path.
 * @example shownPath("my\nnotes.md") // '"my\\nnotes.md"'
 */
export function shownPath(path: string): string {
  if (MEANS_ELSEWHERE.test(path)) return shownPath(`./${path}`);
  if (path.search(CONTROLS) < 0 && !/^["\s]|["\s]$/.test(path)) return path;
  return JSON.stringify(path).replace(CONTROLS, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/**
 * Returns a name or path in the form that is compared for look-alike characters (F81).
 * @example foldedName("it’s.md") === foldedName("it's.md") // true
 */
export function foldedName(name: string): string {
  return new FoldedText(name, { startsInLine: true }).text;
}

function lookAlikePath(root: string, path: string): string {
  if (!HAS_LOOK_ALIKES.test(path) || isPathThere(root, path)) return path;
  const parts = path.split("/");
  for (const [index, part] of parts.entries()) {
    const above = parts.slice(0, index).join("/") || (path.startsWith("/") ? "/" : ".");
    if (part === "" || isPathThere(root, parts.slice(0, index + 1).join("/") || "/")) continue;
    const wanted = foldedName(part);
    const alike = HAS_LOOK_ALIKES.test(part)
      ? listPathFolder(root, above).filter((name) => foldedName(name) === wanted)
      : [];
    const [only] = alike;
    if (only === undefined || alike.length > 1) break;
    parts[index] = only;
  }
  return parts.join("/");
}

/**
 * Returns existing paths similar to a missing one, as a sentence: "Did you mean src/a.ts?"; empty if none is similar.
 * @example console.error(`There is no file src/mian.ts. ${adviceOnPath("/work", "src/mian.ts")}`);
 */
export function adviceOnPath(root: string, path: string): string {
  const parts = path.split("/");
  const missing = parts.findIndex((_, index) => !isPathThere(root, parts.slice(0, index + 1).join("/") || "/"));
  const above = parts.slice(0, missing);
  const names = listPathFolder(root, above.join("/") || (path.startsWith("/") ? "/" : "."));
  const meant = nearest(parts[missing] ?? "", names.slice(0, MOST_COMPARED)).map((name) => {
    const whole = [...above, name, ...parts.slice(missing + 1)].join("/");
    return isPathThere(root, whole) ? whole : [...above, name].join("/");
  });
  return meant.length === 0 ? "" : `Did you mean ${meant.map(shownPath).join(" or ")}?`;
}

function listPathFolder(root: string, folder: string): string[] {
  try {
    return readdirSync(isAbsolute(folder) ? folder : root + sep + folder);
  } catch {
    // No folder, or no permission.
    return [];
  }
}

/**
 * Replaces `~`, `$HOME` or `${HOME}` at the start of a path by `home`.
 * @example expandHome("$HOME/notes.md", "/home/me") // "/home/me/notes.md"
 */
export function expandHome(path: string, home: string): string {
  return path.replace(HOME, () => home);
}

function fromAddress(named: string): string {
  const address = /^file:[\\/]/i.test(named) ? named.replaceAll("\\", "/") : named;
  const [start, host = ""] = FILE_URL.exec(address) ?? [];
  if (start === undefined) return named;
  const rest = address.slice(start.length);
  if (host !== "" && host.toLowerCase() !== "localhost") {
    throw noPlace(
      `${named} names a file on the machine ${host}. Write the path alone: ${host}${rest}, or file://${rest} for a path that starts at the root.`,
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
    `${named} is not a valid file URL: it contains ?, #, an invalid % escape, or an escaped slash or NUL. Write only the path.`,
    cause,
  );
}

function ofWindows(named: string, path: string): WorkspaceError {
  const rest = path.replace(DRIVE, "").replaceAll("\\", "/").replace(/^\/+/, "");
  return noPlace(
    `${named} is on a Windows drive or share, which this system lacks. Use a path of the workspace, such as ${rest || "."}.`,
  );
}

function noPlace(message: string, cause?: unknown): WorkspaceError {
  return new WorkspaceError("path", message, cause === undefined ? {} : { cause });
}

function isPathThere(root: string, path: string): boolean {
  try {
    return lstatSync(isAbsolute(path) ? path : root + sep + path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // The name is impossible, or the system denies access.
    return false;
  }
}

import { existsSync, realpathSync, type Stats, statSync } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, resolve, sep } from "node:path";
import { explain, systemCode, WorkspaceError } from "./error.ts";
import { followLinks } from "./follow-links.ts";

/**
 * Says, in a sentence, why the content of a file may not be told, or nothing when it may. `path` is where the file lies,
 * `named` what the call named, which a person may have been asked about.
 */
export type WhyNotRead = (path: string, named: string) => string | undefined;

/** A folder that tools work in, fixed when it was opened. */
export interface Workspace {
  /** Absolute and free of links. */
  readonly root: string;
  /** The root as it was given; absolute paths may start with it too. */
  readonly alias: string;
  /** The folder that `~` and `$HOME` stand for; absolute. */
  readonly home: string;
  /** The identity of the root, so that another folder put in its place is noticed. */
  readonly device: number;
  readonly inode: number;
  /** Paths relative to the root that are never written, nor anything below them. */
  readonly protected: readonly string[];
  /** The mode of a file made here: 0o666 without the bits that the umask takes. */
  readonly newFileMode: number;
  /** Whether the system names open files by path (`/proc/self/fd`), which makes work inside an open folder safe from swaps. */
  readonly descriptors: boolean;
  /** Asked of each file that is opened, once it is known where it lies (S21). Everything may be read without it. */
  readonly whyNotRead?: WhyNotRead;
}

/** Where a path leads, with every link followed. */
export interface Location {
  /** From the root, with `/` between the parts; `.` is the root itself. */
  readonly path: string;
  /** Absolute, and free of links as far as it exists. */
  readonly real: string;
  readonly kind: "file" | "directory" | "missing" | "special";
  /** What a special file is: "a named pipe". */
  readonly what: string;
}

const MOST_LINKS = 40;
const LINK_OUT = "is a link, or goes through one, that leads out of the workspace";

/**
 * Opens the folder that tools may work in. `protect` names paths in it, relative or absolute, that are never written;
 * `whyNotRead` closes files to all that reads, and `home` is the folder that `~` stands for.
 * Throws a `WorkspaceError` when there is no such folder.
 */
export function openWorkspace(
  root: string,
  protect: readonly string[] = [],
  whyNotRead?: WhyNotRead,
  home = homedir(),
): Workspace {
  const alias = resolve(root);
  let real: string;
  let found: Stats;
  try {
    real = realpathSync(alias);
    found = statSync(real);
  } catch (cause) {
    throw unusable(alias, cause);
  }
  if (!found.isDirectory())
    throw new WorkspaceError("root", `The workspace ${alias} is not a folder. Name an existing folder.`);
  const workspace: Workspace = {
    root: real,
    alias,
    home,
    device: found.dev,
    inode: found.ino,
    protected: [],
    newFileMode: 0o666 & ~process.umask(),
    descriptors: process.platform === "linux" && existsSync("/proc/self/fd"),
  };
  const closed = protect.flatMap((path) => protectedPath(workspace, path));
  return { ...workspace, protected: closed, ...(whyNotRead && { whyNotRead }) };
}

function unusable(root: string, cause: unknown): WorkspaceError {
  const reason = systemCode(cause) ?? String(cause);
  return new WorkspaceError("root", `The workspace ${root} cannot be opened (${reason}). Name an existing folder.`, {
    cause,
  });
}

/** A protected path from the root, as named and with its links followed; none for a path outside, where nothing is written anyway. */
function protectedPath(workspace: Workspace, path: string): string[] {
  const named = resolve(workspace.root, path);
  const real = existsSync(named) ? realpathSync(named) : named;
  return [...new Set([named, real])].flatMap((place) => {
    if (workspace.root === place || workspace.root.startsWith(place.endsWith(sep) ? place : place + sep)) return ["."];
    const inside = belowRoot(workspace, place);
    return inside === undefined ? [] : [inside.split(sep).join("/") || "."];
  });
}

/** What follows the root in an absolute path, or undefined when the path lies outside. */
function belowRoot(workspace: Workspace, path: string): string | undefined {
  for (const root of [workspace.root, workspace.alias]) {
    if (path === root) return "";
    const start = root.endsWith(sep) ? root : root + sep;
    if (path.startsWith(start)) return path.slice(start.length);
  }
  return undefined;
}

/**
 * Follows a path part by part, which is taken as it is: `meantPath` says before what a user or a model means by a text. A link is
 * followed when it leads to a place in the workspace, and refused when it leads elsewhere. A path that begins elsewhere, or leaves
 * the workspace by `..`, is refused unless it leads back. What is missing at the end is no error.
 * The answer may be out of date at once: `openFile` and `replaceFile` check again what they opened.
 */
export async function locate(workspace: Workspace, given: string): Promise<Location> {
  if (given === "")
    throw new WorkspaceError(
      "path",
      "The path is empty. Name a path relative to the workspace; `.` is the workspace itself.",
    );
  if (given.includes("\0")) throw new WorkspaceError("path", "The path contains a null byte. Name it without.");
  await checkRoot(workspace);
  const start = isAbsolute(given) ? (belowRoot(workspace, given) ?? leadingBack(workspace, given)) : given;
  if (start === undefined) throw outside(given, "is outside the workspace");

  let ahead = start.split(sep);
  const parts: string[] = [];
  let found: Stats | undefined = await lstat(workspace.root);
  /** How many of `parts` exist, once one was missing. */
  let existing: number | undefined;
  let links = 0;

  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (parts.pop() === undefined) {
        if (links > 0) throw outside(given, LINK_OUT);
        const back = leadingBack(workspace, given);
        if (back === undefined) throw outside(given, "leads out of the workspace");
        ahead = back.split(sep);
        existing = undefined;
        found = await lstat(workspace.root);
        continue;
      }
      if (existing !== undefined && parts.length <= existing) existing = undefined;
      if (existing === undefined) found = await lstat(join(workspace, parts));
      continue;
    }
    parts.push(part);
    if (existing !== undefined) continue;
    if (!found?.isDirectory())
      throw new WorkspaceError("kind", `${parts.slice(0, -1).join("/")} is not a folder, so ${given} cannot exist.`);
    found = await lstatOrNothing(join(workspace, parts), given);
    if (found === undefined) {
      existing = parts.length - 1;
    } else if (found.isSymbolicLink()) {
      links += 1;
      if (links > MOST_LINKS)
        throw new WorkspaceError("path", `${given} goes through too many links. Name the file itself.`);
      const target = await readlink(join(workspace, parts));
      parts.pop();
      const next = isAbsolute(target) ? belowRoot(workspace, target) : target;
      if (next === undefined) throw outside(given, LINK_OUT);
      if (isAbsolute(target)) parts.length = 0;
      found = await lstat(join(workspace, parts));
      ahead.unshift(...next.split(sep));
    }
  }
  const path = parts.join("/") || ".";
  const real = join(workspace, parts);
  if (existing !== undefined || found === undefined) return { path, real, kind: "missing", what: "nothing" };
  if (found.isFile()) return { path, real, kind: "file", what: "a file" };
  if (found.isDirectory()) return { path, real, kind: "directory", what: "a folder" };
  return { path, real, kind: "special", what: specialKind(found) };
}

/** Where a path leads in the workspace that leaves it on the way, or begins elsewhere; undefined when it ends outside. */
function leadingBack(workspace: Workspace, given: string): string | undefined {
  const real = followLinks(isAbsolute(given) ? given : workspace.root + sep + given);
  return real === undefined ? undefined : belowRoot(workspace, real);
}

/** The kind of a file that is neither a regular file nor a folder. */
export function specialKind(stats: Pick<Stats, "isFIFO" | "isSocket" | "isSymbolicLink">): string {
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isSymbolicLink() ? "a link" : "a device";
}

/** Throws when the root is gone or another folder stands in its place. */
export async function checkRoot(workspace: Workspace): Promise<void> {
  const now = await lstatOrNothing(workspace.root, workspace.root);
  if (now?.isDirectory() && now.dev === workspace.device && now.ino === workspace.inode) return;
  throw new WorkspaceError(
    "root",
    `The workspace ${workspace.root} was moved or replaced since it was opened. Start again in the folder that is meant.`,
  );
}

function outside(given: string, how: string): WorkspaceError {
  return new WorkspaceError("outside", `${given} ${how}. Only paths inside the workspace can be used.`);
}

function join(workspace: Workspace, parts: readonly string[]): string {
  if (parts.length === 0) return workspace.root;
  return (workspace.root.endsWith(sep) ? workspace.root : workspace.root + sep) + parts.join(sep);
}

async function lstatOrNothing(path: string, given: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw explain(given, error);
  }
}

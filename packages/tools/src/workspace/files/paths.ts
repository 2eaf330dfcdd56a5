import { existsSync, realpathSync, type Stats, statSync } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, resolve, sep } from "node:path";
import { explainPathError, systemCode, WorkspaceError } from "./error.ts";
import { followLinks } from "./follow-links.ts";

/**
 * Returns a sentence if the content of a file must not be read; undefined if allowed. `path` is the path without links,
 * `named` the path of the call, which a user may have approved. See {@link openWorkspace}.
 */
export type ReadRefusal = (path: string, named: string) => string | undefined;

/** The folder in which the tools work, as it was when it was opened. See {@link openWorkspace}. */
export interface Workspace {
  /** The absolute path of the root, without links. */
  readonly root: string;
  /** The root as given; absolute paths may start with this form too. */
  readonly alias: string;
  /** The folder of `~` and `$HOME`; absolute. */
  readonly home: string;
  /** Device and inode of the root, which show whether the folder was replaced. */
  readonly device: number;
  readonly inode: number;
  /** Paths relative to the root that are never written, including everything below them. */
  readonly protected: readonly string[];
  /** The mode of new files: 0o666 minus the umask. */
  readonly newFileMode: number;
  /**
   * True if the system has paths for open files (`/proc/self/fd`). With such a path, work in an open folder is safe
   * even if another program replaces the folder.
   */
  readonly descriptors: boolean;
  /**
   * Returns why a file must not be read. Called for each opened file, with its path without links (S21). Absent: all
   * files may be read.
   */
  readonly whyNotRead?: ReadRefusal;
}

/** The target of a path after following all links. See {@link locate}. */
export interface Location {
  /** The path relative to the root, with `/` between parts; `.` is the root. */
  readonly path: string;
  /** The absolute path, without links as far as it exists. */
  readonly real: string;
  readonly kind: "file" | "directory" | "missing" | "special";
  /** The description of a special file: "a named pipe". */
  readonly what: string;
}

const MOST_LINKS = 40;
const LINK_OUT = "is a link, or goes through one, that leads out of the workspace";

/**
 * Opens the folder in which the tools work. `protect` has paths that are never written, relative or absolute.
 * `whyNotRead` can forbid reading a file, and `home` is the folder of `~`. Throws a `WorkspaceError` if the folder does
 * not exist.
 * @example const workspace = openWorkspace("/work", ["package-lock.json"]);
 */
export function openWorkspace(
  root: string,
  protect: readonly string[] = [],
  whyNotRead?: ReadRefusal,
  home = homedir(),
): Workspace {
  const alias = resolve(root);
  let real: string;
  let found: Stats;
  try {
    real = realpathSync(alias);
    found = statSync(real);
  } catch (cause) {
    throw unusableRoot(alias, cause);
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

function unusableRoot(root: string, cause: unknown): WorkspaceError {
  const reason = systemCode(cause) ?? String(cause);
  return new WorkspaceError("root", `The workspace ${root} cannot be opened (${reason}). Name an existing folder.`, {
    cause,
  });
}

/** Returns a protected path relative to the root, as named and with links followed; empty outside the workspace. */
function protectedPath(workspace: Workspace, path: string): string[] {
  const named = resolve(workspace.root, path);
  const real = existsSync(named) ? realpathSync(named) : named;
  return [...new Set([named, real])].flatMap((place) => {
    if (workspace.root === place || workspace.root.startsWith(place.endsWith(sep) ? place : place + sep)) return ["."];
    const inside = belowRoot(workspace, place);
    return inside === undefined ? [] : [inside.split(sep).join("/") || "."];
  });
}

function belowRoot(workspace: Workspace, path: string): string | undefined {
  for (const root of [workspace.root, workspace.alias]) {
    if (path === root) return "";
    const start = root.endsWith(sep) ? root : root + sep;
    if (path.startsWith(start)) return path.slice(start.length);
  }
  return undefined;
}

/**
 * Follows a literal path part by part; call `meantPath` first for a user's or model's text. Throws for a link out of
 * the workspace, and for a path that starts outside or leaves by `..` without leading back. The end of the path may be
 * missing. The path may change right after the check: `openFile` and `replaceWorkspaceFile` check what they opened.
 * @example const { path, real } = await locate(workspace, "docs/a.md");
 */
export async function locate(workspace: Workspace, named: string): Promise<Location> {
  if (named === "")
    throw new WorkspaceError(
      "path",
      "The path is empty. Name a path relative to the workspace; `.` is the workspace itself.",
    );
  if (named.includes("\0")) throw new WorkspaceError("path", "The path contains a null byte. Remove the null byte.");
  await checkRoot(workspace);
  const start = isAbsolute(named) ? (belowRoot(workspace, named) ?? leadingBack(workspace, named)) : named;
  if (start === undefined) throw outsideError(named, "is outside the workspace");

  let ahead = start.split(sep);
  const parts: string[] = [];
  let found: Stats | undefined = await lstat(workspace.root);
  let existing: number | undefined;
  let links = 0;

  for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      if (parts.pop() === undefined) {
        if (links > 0) throw outsideError(named, LINK_OUT);
        const back = leadingBack(workspace, named);
        if (back === undefined) throw outsideError(named, "leads out of the workspace");
        ahead = back.split(sep);
        existing = undefined;
        found = await lstat(workspace.root);
        continue;
      }
      if (existing !== undefined && parts.length <= existing) existing = undefined;
      if (existing === undefined) found = await lstat(joinPath(workspace, parts));
      continue;
    }
    parts.push(part);
    if (existing !== undefined) continue;
    if (!found?.isDirectory())
      throw new WorkspaceError("kind", `${parts.slice(0, -1).join("/")} is not a folder, so ${named} cannot exist.`);
    found = await lstatOrNothing(joinPath(workspace, parts), named);
    if (found === undefined) {
      existing = parts.length - 1;
    } else if (found.isSymbolicLink()) {
      links += 1;
      if (links > MOST_LINKS)
        throw new WorkspaceError("path", `${named} goes through too many links. Name the file itself.`);
      const target = await readlink(joinPath(workspace, parts));
      parts.pop();
      const next = isAbsolute(target) ? belowRoot(workspace, target) : target;
      if (next === undefined) throw outsideError(named, LINK_OUT);
      if (isAbsolute(target)) parts.length = 0;
      found = await lstat(joinPath(workspace, parts));
      ahead.unshift(...next.split(sep));
    }
  }
  const path = parts.join("/") || ".";
  const real = joinPath(workspace, parts);
  if (existing !== undefined || found === undefined) return { path, real, kind: "missing", what: "nothing" };
  if (found.isFile()) return { path, real, kind: "file", what: "a file" };
  if (found.isDirectory()) return { path, real, kind: "directory", what: "a folder" };
  return { path, real, kind: "special", what: specialKind(found) };
}

function leadingBack(workspace: Workspace, named: string): string | undefined {
  const real = followLinks(isAbsolute(named) ? named : workspace.root + sep + named);
  return real === undefined ? undefined : belowRoot(workspace, real);
}

/** Returns the kind of a file that is neither regular nor a folder, such as "a named pipe". */
export function specialKind(stats: Pick<Stats, "isFIFO" | "isSocket" | "isSymbolicLink">): string {
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return stats.isSymbolicLink() ? "a link" : "a device";
}

/** Throws if the root of the workspace is gone or was replaced. */
export async function checkRoot(workspace: Workspace): Promise<void> {
  const now = await lstatOrNothing(workspace.root, workspace.root);
  if (now?.isDirectory() && now.dev === workspace.device && now.ino === workspace.inode) return;
  throw new WorkspaceError(
    "root",
    `The workspace ${workspace.root} was moved or replaced since it was opened. Start again in the right folder.`,
  );
}

function outsideError(named: string, how: string): WorkspaceError {
  return new WorkspaceError("outside", `${named} ${how}. Only paths inside the workspace can be used.`);
}

function joinPath(workspace: Workspace, parts: readonly string[]): string {
  if (parts.length === 0) return workspace.root;
  return (workspace.root.endsWith(sep) ? workspace.root : workspace.root + sep) + parts.join(sep);
}

async function lstatOrNothing(path: string, named: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw explainPathError(named, error);
  }
}

import type { Stats } from "node:fs";
import { lstat, readlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { FileChange } from "@banyan/core/conversation";
import { systemCode, WorkspaceError } from "../files/error.ts";
import { openDirectory, openFile } from "../files/open-path.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";
import { removeFile, replaceWorkspaceFile } from "./replace-file.ts";

const LINK = "120000";

/** A regular file, or a symbolic link. The content of a link is the path to which it points. See {@link entryAt}. */
export interface FileEntry {
  readonly content: Buffer;
  /** The file mode in octal digits, as git writes it: "100755" for a program, "120000" for a link. */
  readonly mode: string;
}

/** An existing file or link of the workspace. Its `stats` show later whether it was replaced. */
export interface StandingEntry extends FileEntry {
  readonly stats: Stats;
}

/**
 * Returns whether a file entry is a symbolic link.
 * @example isLink({ mode: "120000" }) // true
 */
export function isLink(entry: Pick<FileEntry, "mode"> | undefined): boolean {
  return entry?.mode === LINK;
}

/**
 * Converts the mode of a file to the form of `FileEntry.mode`.
 * @example modeText({ mode: 0o755 }) // "100755"
 */
export function modeText({ mode }: Pick<Stats, "mode">): string {
  return `100${(mode & 0o777).toString(8).padStart(3, "0")}`;
}

/**
 * Locates a path like `locate`, but does not follow a link at the end of the path.
 * @example const { real } = await locateEntry(workspace, "docs/link.md");
 */
export async function locateEntry(workspace: Workspace, named: string): Promise<Location> {
  const name = basename(named);
  if (name === "" || name === "." || name === "..") return locate(workspace, named);
  const folder = await locate(workspace, dirname(named));
  const real = `${folder.real}/${name}`;
  const found = await lstat(real).catch((error) => {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  });
  if (!found?.isSymbolicLink()) return locate(workspace, named);
  const path = folder.path === "." ? name : `${folder.path}/${name}`;
  return { path, real, kind: "special", what: "a link" };
}

/**
 * Returns the file or link at a location; undefined if there is none. Other failures throw like `openFile`.
 * @example
 * const entry = await entryAt(workspace, await locateEntry(workspace, "a.txt"));
 * console.log(entry === undefined ? "no file" : entry.mode);
 */
export async function entryAt(workspace: Workspace, location: Location): Promise<StandingEntry | undefined> {
  if (location.kind === "missing") return undefined;
  if (location.what === "a link") {
    await using folder = await openDirectory(workspace, dirname(location.real));
    const at = `${folder.at}/${basename(location.real)}`;
    const [content, stats] = [await readlink(at, { encoding: "buffer" }), await lstat(at)];
    return { content, mode: LINK, stats };
  }
  await using file = await openFile(workspace, location.path);
  return { content: await file.handle.readFile(), mode: modeText(file.stats), stats: file.stats };
}

/** Returns whether two entries have the same kind and content. Their permissions may differ. */
export function hasSameContent(one: FileEntry | undefined, other: FileEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return isLink(one) === isLink(other) && one.content.equals(other.content);
}

/**
 * Replaces the file or link `standing`. If `standing` is undefined, creates a file or link. An entry without a mode
 * keeps the mode of the existing file, or gets the mode of a new file. Throws like `replaceWorkspaceFile` and
 * `removeFile`.
 */
export async function putEntry(
  workspace: Workspace,
  location: Location,
  entry: (Pick<FileEntry, "content"> & Partial<FileEntry>) | undefined,
  standing: StandingEntry | undefined,
): Promise<void> {
  if (!entry) {
    if (standing) await removeFile(workspace, location, standing.stats);
    return;
  }
  const { content, mode } = entry;
  if (!standing || isLink(standing) || mode === LINK || !standing.content.equals(content))
    return replaceWorkspaceFile(workspace, location, content, standing?.stats, mode);
  if (mode === undefined) return;
  assertWritable(workspace, location);
  await using file = await openFile(workspace, location.path);
  const { dev, ino, nlink } = file.stats;
  if (dev !== standing.stats.dev || ino !== standing.stats.ino || nlink > 1)
    throw new WorkspaceError("changed", `${location.path} was changed by another program meanwhile.`);
  await file.handle.chmod(permissionsOf(mode));
}

/** Returns the permission bits of a mode in octal digits. */
export function permissionsOf(mode: string): number {
  return Number.parseInt(mode, 8) & 0o777;
}

/** Returns how the mode of a file changed; empty if a regular file keeps its permissions. */
export function modeChange(before: FileEntry | undefined, after: FileEntry | undefined): Pick<FileChange, "mode"> {
  const isKept = before && after && before.mode === after.mode && !isLink(after);
  return isKept ? {} : { mode: { before: before?.mode ?? null, after: after?.mode ?? null } };
}

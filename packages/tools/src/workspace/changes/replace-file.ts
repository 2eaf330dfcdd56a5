import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, rename, symlink, unlink } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { explainPathError, systemCode, WorkspaceError } from "../files/error.ts";
import { type OpenDirectory, openDirectory, openInside } from "../files/open-path.ts";
import type { Location, Workspace } from "../files/paths.ts";
import { assertWritable } from "../files/protected-paths.ts";

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes a whole file atomically: a new file in the same folder replaces the old one. A new file has mode 0600 and gets
 * its missing folders. An existing file keeps its owner, and its mode unless `mode` (octal digits) is given. With mode
 * "120000", a link is created whose target is `bytes`. Throws `changed` if the file was replaced since `read`, the
 * stats from when its content was read. Also throws if `assertWritable` does, or if the file has several hard links,
 * because some may be outside the workspace.
 */
export async function replaceWorkspaceFile(
  workspace: Workspace,
  location: Location,
  bytes: Uint8Array,
  read?: Stats,
  mode?: string,
): Promise<void> {
  await using replacement = await prepareReplacement(workspace, location, bytes, read, mode);
  await replacement.takePlace();
}

/** Written content that has not replaced the file yet. Disposing removes the content. */
export interface Replacement extends AsyncDisposable {
  readonly temporary: string;
  /** Replaces the file, unless another file took its place. Returns the stats of the new file. */
  takePlace(): Promise<Stats>;
  /** Makes the replacement survive a power cut. */
  flush(): Promise<void>;
}

/** Writes the new content to a temporary file, but does not replace the file yet. Throws like `replaceWorkspaceFile`. */
export async function prepareReplacement(
  workspace: Workspace,
  location: Location,
  bytes: Uint8Array,
  read?: Stats,
  mode?: string,
): Promise<Replacement> {
  assertWritable(workspace, location);
  const resources = new AsyncDisposableStack();
  try {
    const parent = resources.use(
      await openParent(workspace, location, read === undefined && location.kind === "missing"),
    );
    const target = targetIn(parent, location);
    const before = await writableFile(target, location);
    if (before !== undefined && location.kind === "missing") throw changedFileError(location);
    if (read !== undefined && !isSameFile(read, before)) throw changedFileError(location);
    const name = `.${randomUUID()}.tmp`;
    const temporary = `${parent.at}/${name}`;
    if (mode?.startsWith("12")) await symlink(Buffer.from(bytes), temporary);
    else await writeTemporary(temporary, bytes, before, modeFor(workspace, before, mode));
    let isPlaced = false;
    resources.defer(async () => {
      if (!isPlaced) await unlink(temporary);
    });
    return {
      temporary: name,
      async takePlace() {
        try {
          if (!isSameFile(before, await writableFile(target, location))) throw changedFileError(location);
          await rename(temporary, target);
          isPlaced = true;
          return await lstat(target);
        } catch (error) {
          throw explainPathError(location.path, error);
        }
      },
      flush: () => parent.flush(),
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    };
  } catch (error) {
    await resources.disposeAsync();
    throw explainPathError(location.path, error);
  }
}

/** Removes a file, unless it has changed since its stats `read` were taken. Throws like `replaceWorkspaceFile`. */
export async function removeFile(workspace: Workspace, location: Location, read: Stats): Promise<void> {
  assertWritable(workspace, location);
  try {
    await using parent = await openParent(workspace, location, false);
    const target = targetIn(parent, location);
    if (!isSameFile(read, await writableFile(target, location))) throw changedFileError(location);
    await unlink(target);
  } catch (error) {
    throw explainPathError(location.path, error);
  }
}

function targetIn(parent: OpenDirectory, location: Location): string {
  return `${parent.at}/${location.path.slice(location.path.lastIndexOf("/") + 1)}`;
}

function changedFileError(location: Location): WorkspaceError {
  return new WorkspaceError(
    "changed",
    `${location.path} was not written: another program changed the file meanwhile. Read it again first.`,
  );
}

/** Opens the parent folder, part by part from the root. With `makes`, creates missing folders. */
export async function openParent(workspace: Workspace, location: Location, makes: boolean): Promise<OpenDirectory> {
  const inside = relative(workspace.root, dirname(location.real));
  let at = await openDirectory(workspace, workspace.root);
  for (const name of inside === "" ? [] : inside.split(sep)) {
    try {
      const next = await (makes ? openOrMake(workspace, at, name) : openInside(workspace, at, name));
      await at[Symbol.asyncDispose]();
      at = next;
    } catch (error) {
      await at[Symbol.asyncDispose]();
      throw error;
    }
  }
  return at;
}

async function openOrMake(workspace: Workspace, parent: OpenDirectory, name: string): Promise<OpenDirectory> {
  try {
    return await openInside(workspace, parent, name);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  try {
    await mkdir(`${parent.at}/${name}`);
  } catch (error) {
    // Another process just created the folder: open it.
    if (systemCode(error) !== "EEXIST") throw error;
  }
  return openInside(workspace, parent, name);
}

/** Returns the stats of the target file or link; undefined if missing. Throws if the target must not be replaced. */
async function writableFile(target: string, location: Location): Promise<Stats | undefined> {
  let found: Stats;
  try {
    found = await lstat(target);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
  if (!found.isFile() && !(found.isSymbolicLink() && location.what === "a link"))
    throw new WorkspaceError("changed", `${location.path} is not a regular file any more, so it was not written.`);
  assertOneName(location, found);
  return found;
}

/** Throws if the file has several hard links, because some may be outside the workspace (S8). */
export function assertOneName({ path }: Location, { nlink }: Stats): void {
  if (nlink > 1) {
    throw new WorkspaceError(
      "protected",
      `${path} has ${nlink} hard links, so writing it could change a file elsewhere. Ask the user to copy it first.`,
    );
  }
}

function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;
}

function modeFor({ newFileMode }: Workspace, before: Stats | undefined, mode: string | undefined): number {
  if (mode !== undefined) return Number.parseInt(mode, 8) & 0o777;
  return before?.isFile() ? before.mode & 0o777 : newFileMode;
}

async function writeTemporary(path: string, bytes: Uint8Array, before: Stats | undefined, mode: number): Promise<void> {
  const handle = await open(path, CREATE, 0o600);
  try {
    await handle.writeFile(bytes);
    if (before !== undefined) await keepOwner(handle, before);
    await handle.chmod(mode);
    // Without a sync, a power cut could leave an empty file under this name.
    await handle.sync();
  } catch (error) {
    await unlink(path);
    throw error;
  } finally {
    await handle.close();
  }
}

async function keepOwner(handle: FileHandle, before: Stats): Promise<void> {
  const made = await handle.stat();
  if (made.uid === before.uid && made.gid === before.gid) return;
  try {
    await handle.chown(before.uid, before.gid);
  } catch (error) {
    // Only root may change the owner. The content is more important than the owner.
    if (systemCode(error) !== "EPERM") throw error;
  }
}

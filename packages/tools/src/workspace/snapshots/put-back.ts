import { createHash } from "node:crypto";
import { chmodSync, lstatSync, type Stats } from "node:fs";
import { chmod, mkdir, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "@banyan/core/shown";
import { openParent } from "../changes/replace-file.ts";
import { explainPathError, systemCode, WorkspaceError } from "../files/error.ts";
import { type OpenDirectory, openDirectory } from "../files/open-path.ts";
import type { Location, Workspace } from "../files/paths.ts";
import {
  canOpen,
  entryKindOf,
  hasBytes,
  hasStamp,
  hasStampOf,
  ignoreMissing,
  setFileMode,
  statsAt,
  writeNewFile,
} from "./entry-on-disk.ts";
import type { Entry, PendingRestoration, SnapshotFile } from "./snapshot-file.ts";
import { folderOf, nameOf, pathBelow } from "./tree-paths.ts";

/** The permissions that an owner needs to change the content of a folder. */
const OPEN = 0o700;
/** Files to write at the same time: they wait for the disk together. */
const AT_ONCE = { files: 32, bytes: 64 * 1024 ** 2 };
const MISSING: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR"]);
/** Problems of the disk or the process, not of one path. */
const NO_ROOM: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EMFILE", "ENFILE", "ENOMEM"]);

/** A restoration that changed nothing, because its new contents had no room. */
export class NoRoomError extends WorkspaceError {}

/** A path in its open folder. */
interface Place {
  readonly at: string;
  readonly parent: OpenDirectory;
}

/** A new content that waits beside its place. */
interface WaitingContent {
  readonly step: PendingRestoration;
  readonly target: Entry;
  /** The folder with the temporary file; absent: only the mode changes. */
  readonly folder: string | undefined;
}

/**
 * Restores the entries of a workspace, or continues a restoration that a dead process left. Writes all new contents
 * beside their places first, so a full disk changes nothing: then it rejects with a `NoRoomError`. Entries that are
 * neither as recorded nor restored stay as they are. Each file is replaced in one step, so a kill leaves its old or its
 * new content. Returns a sentence for each path that was not restored.
 */
export async function putBack(
  workspace: Workspace,
  file: SnapshotFile,
  steps: readonly PendingRestoration[],
): Promise<string[]> {
  return new PutBack(workspace, file).run(steps);
}

class PutBack {
  readonly #workspace: Workspace;
  readonly #file: SnapshotFile;
  readonly #problems: string[] = [];
  /** The modes of folders to set at the end. */
  readonly #modes = new Map<string, number>();
  /** The recorded modes of folders that this object has opened. */
  readonly #opened = new Map<string, number>();

  constructor(workspace: Workspace, file: SnapshotFile) {
    this.#workspace = workspace;
    this.#file = file;
  }

  async run(steps: readonly PendingRestoration[]): Promise<string[]> {
    for (const { path, target } of steps) if (target?.kind === "folder") this.#modes.set(path, target.mode);
    const ascending = steps.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    const waiting = await this.#prepare(ascending);
    for (const step of ascending.toReversed())
      if (step.now && (!step.target || step.target.kind !== step.now.kind))
        await this.#each(step, ({ at }) => this.#remove(at, step));
    for (const step of ascending) if (step.target?.kind === "folder") await this.#makeFolder(step, "all");
    for (const each of waiting) await this.#each(each.step, (place) => this.#place(place, each));
    for (const folder of new Set(steps.map(({ path }) => folderOf(path)))) await this.#flush(folder);
    for (const [path, mode] of [...this.#modes].toSorted(([one], [other]) => other.length - one.length))
      await this.#setMode(path, mode);
    return this.#problems;
  }

  /** Makes missing folders, and writes new contents. Changes nothing if there is no room for them. */
  async #prepare(ascending: readonly PendingRestoration[]): Promise<WaitingContent[]> {
    const made: PendingRestoration[] = [];
    const waiting: WaitingContent[] = [];
    try {
      for (const step of ascending)
        if (step.target?.kind === "folder" && (await this.#makeFolder(step, "free"))) made.push(step);
      for (const group of groups(ascending)) {
        const done = await Promise.allSettled(group.map((step) => this.#stage(step)));
        for (const each of done) if (each.status === "rejected") throw each.reason;
        waiting.push(...done.flatMap((each) => (each.status === "fulfilled" && each.value) || []));
      }
      return waiting;
    } catch (error) {
      await removeTemporaries(this.#workspace, ascending);
      for (const { path } of made.toReversed()) await this.#each({ path, target: undefined }, ({ at }) => rmdir(at));
      for (const [path, mode] of [...this.#opened].toReversed()) await this.#setMode(path, mode);
      const reason = systemCode(error) ?? errorMessage(error);
      const said = `No file was restored, because the contents could not be written (${reason}).`;
      // biome-ignore lint/style/useErrorCause: the third argument has the cause.
      throw new NoRoomError("system", said, { cause: error });
    }
  }

  /** Runs a step at its path, or at another one (`real`), in the open parent folder. */
  async #each(
    { path, target }: Pick<PendingRestoration, "path" | "target">,
    work: (place: Place) => Promise<void>,
    real = path,
  ): Promise<void> {
    try {
      this.#openUp(real);
      await using parent = await openParent(this.#workspace, locationOf(this.#workspace, real), false);
      await work({ at: `${parent.at}/${nameOf(real)}`, parent });
    } catch (error) {
      const code = systemCode(error) ?? "";
      if (NO_ROOM.has(code)) throw error;
      // Without its folder, the path is missing too.
      if (!target && MISSING.has(code)) return;
      this.#problems.push(explainPathError(path, error).message);
    }
  }

  /** Lets the owner write in the folders around a path until the end of the restoration. */
  #openUp(path: string): void {
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at);
      const real = `${this.#workspace.root}/${folder}`;
      const stats = lstatSync(real, { throwIfNoEntry: false });
      if (!stats?.isDirectory()) return;
      const mode = stats.mode & 0o7777;
      // A dead process may have opened the folder.
      const recorded = this.#file.folderMode(folder) ?? mode;
      if (isOpen(recorded) && isOpen(mode)) continue;
      if (!this.#modes.has(folder)) this.#modes.set(folder, recorded);
      if (!this.#opened.has(folder)) this.#opened.set(folder, recorded);
      if (!isOpen(mode)) chmodSync(real, mode | OPEN);
    }
  }

  async #remove(at: string, { path, target, now }: PendingRestoration): Promise<void> {
    const stats = await statsAt(at);
    if (!stats || (target && entryKindOf(stats) === target.kind)) return;
    if (stats.isDirectory()) {
      if ((stats.mode & OPEN) !== OPEN) chmodSync(at, stats.mode | OPEN);
      this.#modes.delete(path);
      return rmdir(at).catch((error: unknown) => {
        if (systemCode(error) !== "ENOTEMPTY") throw error;
        // The folder has files that the user keeps, or that no snapshot has.
        this.#modes.set(path, stats.mode & 0o7777);
        if (target) this.#problems.push(`${path} is still a folder, because it has other files.`);
      });
    }
    await this.#assertAsRecorded(at, path, stats, now);
    await unlink(at);
  }

  /** Makes a folder if its place is free. With `all`, anything else there is a problem. Returns whether it made one. */
  async #makeFolder(step: PendingRestoration, which: "all" | "free"): Promise<boolean> {
    const { path } = step;
    if (which === "free" && this.#nearestFolder(path) !== folderOf(path)) return false;
    let isMade = false;
    await this.#each(step, async ({ at }) => {
      const stats = await statsAt(at);
      if (!stats) {
        await mkdir(at);
        isMade = true;
      } else if (which === "all" && !stats.isDirectory()) throw changedError(path);
    });
    return isMade;
  }

  /** The nearest folder around a path that is there. */
  #nearestFolder(path: string): string {
    let found = "";
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at);
      if (!lstatSync(`${this.#workspace.root}/${folder}`, { throwIfNoEntry: false })?.isDirectory()) break;
      found = folder;
    }
    return found;
  }

  /** Writes a new content beside its place, unless the file is already restored. */
  async #stage(step: PendingRestoration): Promise<WaitingContent | undefined> {
    const { path, target, now } = step;
    if (target?.kind !== "file" && target?.kind !== "link") return undefined;
    const folder = this.#nearestFolder(path);
    let waiting: WaitingContent | undefined;
    const write = async ({ at, parent }: Place) => {
      const place = `${parent.at}/${nameOf(path)}`;
      const stats = folder === folderOf(path) ? await statsAt(place) : undefined;
      const content = target.content === null ? undefined : await this.#file.content(target.content);
      if (stats && entryKindOf(stats) === target.kind) {
        const isAsNow = now?.content === target.content && hasStampOf(stats, now);
        if (isAsNow || (content && (await hasBytes(place, stats, content)))) {
          if (target.kind === "link" || (stats.mode & 0o7777) === target.mode) return;
          if (await canOpen(place)) {
            waiting = { step, target, folder: undefined };
            return;
          }
        }
      }
      if (content === undefined) throw new WorkspaceError("missing", `The earlier content of ${path} was not kept.`);
      if (stats && !stats.isDirectory()) await this.#assertAsRecorded(place, path, stats, now);
      await unlink(at).catch(ignoreMissing);
      if (target.kind === "link") await symlink(content, at);
      else await writeNewFile(at, content, target.mode);
      waiting = { step, target, folder };
    };
    await this.#each(step, write, pathBelow(folder, temporaryName(path)));
    return waiting;
  }

  /** Moves a new content to its place. */
  async #place({ at, parent }: Place, { step: { path, now }, target, folder }: WaitingContent): Promise<void> {
    const stats = await statsAt(at);
    if (folder === undefined) {
      if (!stats?.isFile() || !(await setFileMode(at, target.mode))) throw changedError(path);
      return;
    }
    const temporary = temporaryName(path);
    await using other =
      folder === folderOf(path)
        ? undefined
        : await openParent(this.#workspace, locationOf(this.#workspace, pathBelow(folder, temporary)), false);
    const from = `${(other ?? parent).at}/${temporary}`;
    try {
      if (stats && !stats.isDirectory()) await this.#assertAsRecorded(at, path, stats, now);
      // A folder is still there if it has other files, which the removal has reported.
      if (stats?.isDirectory()) await unlink(from);
      else await rename(from, at);
    } catch (error) {
      await unlink(from).catch(ignoreMissing);
      throw error;
    }
  }

  /** Throws unless the file or link is in the recorded state: another program may have changed it. */
  async #assertAsRecorded(at: string, path: string, stats: Stats, now: Entry | undefined): Promise<void> {
    if (now && now.kind === entryKindOf(stats)) {
      if (hasStampOf(stats, now)) return;
      // A pipe or socket has no content, and the times of its last use.
      if (now.kind === "special" && now.stamp.inode === stats.ino) return;
      // Without a kept content, only the times can show a change.
      if (now.content === null && hasStamp(now.stamp, stats)) return;
      if (now.content !== null && (await hasBytes(at, stats, await this.#file.content(now.content)))) return;
    }
    throw changedError(path);
  }

  /** Makes restored names survive a power cut. */
  async #flush(folder: string): Promise<void> {
    try {
      await using directory = await openDirectory(this.#workspace, join(this.#workspace.root, folder));
      await directory.flush();
    } catch (error) {
      // A removed folder needs no flush: the folder around it has one.
      if (systemCode(error) !== "ENOENT" && systemCode(error) !== "ENOTDIR")
        this.#problems.push(explainPathError(folder, error).message);
    }
  }

  async #setMode(path: string, mode: number): Promise<void> {
    const stats = await statsAt(`${this.#workspace.root}/${path}`).catch(() => undefined);
    if (!stats?.isDirectory() || (stats.mode & 0o7777) === mode) return;
    try {
      await using directory = await openDirectory(this.#workspace, `${this.#workspace.root}/${path}`).catch((error) => {
        // An owner may be unable to open the folder, but can change its mode.
        if (systemCode(error) === "EACCES") return undefined;
        throw error;
      });
      await chmod(directory ? `${directory.at}/.` : `${this.#workspace.root}/${path}`, mode);
    } catch (error) {
      if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return;
      this.#problems.push(explainPathError(path, error).message);
    }
  }
}

/** Removes the temporary files of a restoration that a dead process left, or that had no room. */
export async function removeTemporaries(workspace: Workspace, steps: readonly PendingRestoration[]): Promise<void> {
  for (const { path, target } of steps) {
    if (target?.kind !== "file" && target?.kind !== "link") continue;
    // At the time, the nearest folder may have been any of the folders around the path.
    for (let folder = path; folder !== ""; ) {
      folder = folderOf(folder);
      try {
        await using parent = await openParent(workspace, locationOf(workspace, pathBelow(folder, "-")), false);
        await unlink(`${parent.at}/${temporaryName(path)}`);
      } catch (error) {
        // The folder is not there yet, or is closed until the restoration opens it.
        if (systemCode(error) === undefined && !(error instanceof WorkspaceError)) throw error;
      }
    }
  }
}

/** The same name at each attempt, so that a later attempt finds the file of a dead process. */
function temporaryName(path: string): string {
  return `.${createHash("sha256").update(path).digest("hex").slice(0, 32)}.restore.tmp`;
}

function changedError(path: string): WorkspaceError {
  return new WorkspaceError("changed", `${path} was changed meanwhile, so it was not restored.`);
}

/** Returns files and links to restore, as many as one writes at the same time. */
function* groups(steps: readonly PendingRestoration[]): Generator<PendingRestoration[]> {
  let group: PendingRestoration[] = [];
  let bytes = 0;
  for (const step of steps) {
    if (step.target?.kind !== "file" && step.target?.kind !== "link") continue;
    group.push(step);
    bytes += step.target.stamp.size;
    if (group.length < AT_ONCE.files && bytes < AT_ONCE.bytes) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  yield group;
}

function locationOf({ root }: Workspace, path: string): Location {
  return { path, real: `${root}/${path}`, kind: "missing", what: "" };
}

function isOpen(mode: number): boolean {
  return (mode & OPEN) === OPEN;
}

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { systemCode, WorkspaceError } from "../files/error.ts";
import { type IgnoreRules, isIgnored, rulesIn } from "../files/git-ignore.ts";
import { openDirectory } from "../files/open-path.ts";
import type { Workspace } from "../files/paths.ts";
import { isBelowRepository, isCache, type SnapshotBounds } from "./coverage.ts";
import type { Entry, EntryKind, FileStamp, SnapshotFile } from "./snapshot-file.ts";

/** Something in the workspace that no snapshot keeps. See {@link WorkspaceSnapshots}. */
export interface LeftOut {
  readonly path: string;
  /** `cache`: other files rebuild the folder. `special`: no file, such as a pipe. `name`: the name is no text. */
  readonly why: "cache" | "large" | "ignored" | "full" | "special" | "unreadable" | "name";
  /** Bytes, if known. */
  readonly size?: number | undefined;
}

/** The state of a path that a scan found to be new or different. */
export type FoundEntry = Omit<Entry, "id" | "since">;

/** A path whose state differs from its latest recorded state. */
export interface FoundChange {
  readonly before: Entry | undefined;
  readonly after: FoundEntry | undefined;
}

export interface ScanOptions {
  readonly workspace: Workspace;
  readonly file: SnapshotFile;
  readonly bounds: SnapshotBounds;
  /** The latest recorded states by path. The scan replaces the states of unchanged files whose stamp changed. */
  readonly known: Map<string, Entry>;
  /** Paths of which unchanged files without a kept content get one. Changed files always get one. */
  readonly keep: "all" | ReadonlySet<string>;
  /** The only paths to look at; absent: all. */
  readonly only?: readonly string[] | undefined;
}

const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** `O_NONBLOCK`: a named pipe in place of the file opens at once and is refused afterwards. */
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Milliseconds of work between two pauses, in which other work of the process runs. */
const AT_ONCE = 12;
/** Milliseconds within which two changes of a file may have the same times: FAT counts in steps of two seconds. */
const FRESH = 2000;
/** Bytes to read between two looks at the clock. */
const PIECE = 1024 * 1024;
const MOST_READS = 4;
const UNREADABLE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "ELOOP", "ENOTDIR", "ENOENT"]);
const RULE_FILES = [".git", ".gitignore", ".ignore", ".rgignore"];

/** An open folder: `at` stays correct even if a parent is swapped for a link, where the system allows that. */
interface OpenFolder {
  readonly at: string;
  /** Relative to the workspace; empty for its root. */
  readonly path: string;
  readonly isIgnored: boolean;
  readonly rules: () => Promise<IgnoreRules | undefined>;
}

/**
 * Compares the workspace with its recorded states, and keeps the contents of changed files. Reads only files whose size,
 * inode or times changed. Follows no links, and leaves out `.git` and protected paths. Pauses let other work run.
 */
export class WorkspaceScan {
  readonly changes: FoundChange[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly #options: ScanOptions;
  readonly #seen = new Set<string>();
  readonly #folders = new Set<string>();
  /** Paths, with `/` at the end, below which nothing can be seen. */
  readonly #unreadable: string[] = [];
  readonly #now = Date.now();
  /** True for the first scan of a workspace: its files are no changes. */
  readonly #isFirst: boolean;
  readonly #only: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** Paths that tools never write, such as the program's own data. */
  readonly #closed: ReadonlySet<string>;
  #isInRepository: boolean | undefined;
  #pausedAt = performance.now();
  #ignoredBytes = 0;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#isFirst = options.known.size === 0;
    this.#closed = new Set(options.workspace.protected);
    this.#only = options.only && namesByFolder(options.only);
    for (const { isIgnored, content, stamp } of options.known.values())
      if (isIgnored && content !== null) this.#ignoredBytes += stamp.size;
  }

  /** Rejects with a `WorkspaceError` if the workspace is too large. */
  async run(): Promise<void> {
    const { workspace, known } = this.#options;
    const rules = once(() => this.#rulesIn("", undefined));
    this.#seen.add("");
    const isOpen = await this.#inFolder(workspace.root, (at) =>
      this.#folder({ at, path: "", isIgnored: false, rules }),
    );
    if (!isOpen) throw new WorkspaceError("root", `The workspace ${workspace.root} cannot be read.`);
    const looked = this.#only && pathsIn(this.#only);
    for (const [path, before] of known) {
      if (this.#seen.has(path) || (looked && !this.#isGone(path, looked))) continue;
      if (this.#unreadable.some((folder) => path.startsWith(folder))) continue;
      this.changes.push({ before, after: undefined });
    }
  }

  /** With `only`: returns whether a path that was not seen, or a folder around it, is missing. */
  #isGone(path: string, looked: ReadonlySet<string>): boolean {
    for (let at = path; at !== ""; at = folderOf(at)) if (looked.has(at)) return !this.#folders.has(at);
    return false;
  }

  async #folder(folder: OpenFolder): Promise<void> {
    const names = this.#only ? [...(this.#only.get(folder.path) ?? [])] : readdirSync(folder.at);
    const siblings = once(() => new Set(this.#only ? readdirSync(folder.at) : names));
    for (const name of names) {
      if (performance.now() - this.#pausedAt > AT_ONCE) await this.#pause();
      const path = pathIn(folder.path, name);
      if (name === ".git" || this.#closed.has(path)) continue;
      if (name.includes("\ufffd")) {
        this.leftOut.push({ path, why: "name" });
        continue;
      }
      const stats = this.#statsOf(path);
      if (!stats) continue;
      if (this.#seen.size > this.#options.bounds.entries)
        throw new WorkspaceError(
          "root",
          `The workspace has more than ${this.#options.bounds.entries} files and folders, so no snapshots of it are made.`,
        );
      if (stats.isDirectory()) await this.#subfolder(folder, { name, path, stats, siblings });
      else if (stats.isFile()) await this.#file(folder, name, path, stats);
      else if (stats.isSymbolicLink()) await this.#link(folder, name, path, stats);
      else {
        this.leftOut.push({ path, why: "special" });
        this.#seen.delete(path);
      }
    }
  }

  /**
   * Returns undefined without an entry that can be seen. Looks along the plain path, which is twice as fast: contents are
   * read along open folders only.
   */
  #statsOf(path: string): Stats | undefined {
    try {
      const stats = lstatSync(`${this.#options.workspace.root}/${path}`, { throwIfNoEntry: false });
      if (stats) this.#seen.add(path);
      return stats;
    } catch (error) {
      if (!UNREADABLE.has(systemCode(error) ?? "")) throw error;
      this.leftOut.push({ path, why: "unreadable" });
      // A path that cannot be read counts as unchanged.
      this.#seen.add(path);
      this.#unreadable.push(`${path}/`);
      return undefined;
    }
  }

  async #pause(): Promise<void> {
    await turnOfTheLoop();
    this.#pausedAt = performance.now();
  }

  async #subfolder(
    parent: OpenFolder,
    { name, path, stats, siblings }: { name: string; path: string; stats: Stats; siblings: () => ReadonlySet<string> },
  ): Promise<void> {
    const before = this.#options.known.get(path);
    const isFolderIgnored = before ? before.isIgnored : await this.#isIgnored(parent, path, true);
    const inside = (file: string) => lstatSync(`${parent.at}/${name}/${file}`, { throwIfNoEntry: false }) !== undefined;
    const canBeCache = before?.kind !== "folder" && (isFolderIgnored || !this.#isTracked());
    const kind = canBeCache && isCache(name, siblings(), inside) ? "cache" : "folder";
    this.#found({ path, kind, mode: modeOf(stats), content: null, isIgnored: isFolderIgnored, stamp: NO_STAMP });
    if (kind === "cache") {
      this.leftOut.push({ path, why: "cache" });
      return;
    }
    this.#folders.add(path);
    if (this.#only && !this.#only.has(path)) return;
    const rules = once(() => this.#rulesIn(path, parent.rules));
    const isOpen = await this.#inFolder(`${parent.at}/${name}`, (at) =>
      this.#folder({ at, path, isIgnored: isFolderIgnored, rules }),
    );
    if (isOpen) return;
    this.leftOut.push({ path, why: "unreadable" });
    this.#unreadable.push(`${path}/`);
  }

  #isTracked(): boolean {
    this.#isInRepository ??= isBelowRepository(this.#options.workspace.root);
    return this.#isInRepository;
  }

  /** Returns false if the folder cannot be opened, or was replaced meanwhile. */
  async #inFolder(path: string, work: (at: string) => Promise<void>): Promise<boolean> {
    let descriptor: number;
    try {
      descriptor = openSync(path, OPEN_FOLDER);
    } catch (error) {
      if (!UNREADABLE.has(systemCode(error) ?? "")) throw error;
      return false;
    }
    try {
      const { descriptors } = this.#options.workspace;
      if (!descriptors && realpathSync(path) !== path) return false;
      await work(descriptors ? `/proc/self/fd/${descriptor}` : path);
      return true;
    } finally {
      closeSync(descriptor);
    }
  }

  async #file(folder: OpenFolder, name: string, path: string, stats: Stats): Promise<void> {
    const { known, keep, file } = this.#options;
    const before = known.get(path);
    const isSame = before?.kind === "file" && hasStamp(before.stamp, stats);
    const isWanted = keep === "all" || keep.has(path);
    const isKept = before?.content !== null;
    if (isSame && !before.stamp.isFresh && (isKept || !isWanted)) {
      if (before.mode !== modeOf(stats)) this.#found({ ...before, mode: modeOf(stats) });
      else if (!isKept) this.#leave(before, path);
      return;
    }
    const isFileIgnored = before ? before.isIgnored : await this.#isIgnored(folder, path, false);
    const state = { path, kind: "file" as EntryKind, mode: modeOf(stats), isIgnored: isFileIgnored };
    const unread = { ...state, content: null, stamp: this.#stampOf(stats) };
    const wasKept = before?.kind === "file" && before.content !== null;
    if (!isWanted && (isSame || this.#isFirst) && !wasKept) return this.#found(unread, isSame);
    const held = wasKept ? before.stamp.size : 0;
    const why = isSame && wasKept ? undefined : this.#whyNotKept(stats.size - held, stats.size, isFileIgnored);
    const read = why ? undefined : await this.#read(`${folder.at}/${name}`);
    if (!read) {
      this.leftOut.push({ path, why: why ?? "unreadable", size: stats.size });
      return this.#found(unread, isSame && !wasKept);
    }
    const content = await file.keep(read.bytes);
    if (isFileIgnored) this.#ignoredBytes += read.bytes.length - held;
    const isEqual = before?.kind === "file" && (before.content === content || (isSame && !wasKept));
    this.#found({ ...state, mode: modeOf(read.stats), content, stamp: this.#stampOf(read.stats) }, isEqual);
  }

  /** Reports an unchanged file without a content if a limit forbids one. */
  #leave({ stamp: { size }, isIgnored }: Entry, path: string): void {
    const why = this.#whyNotKept(size, size, isIgnored);
    if (why) this.leftOut.push({ path, why, size });
  }

  /** `more`: bytes that the file needs beyond those of its kept content. */
  #whyNotKept(more: number, size: number, isIgnored: boolean): LeftOut["why"] | undefined {
    const { bounds, file } = this.#options;
    if (size > bounds.file) return "large";
    if (isIgnored && this.#ignoredBytes + more > bounds.ignored) return "ignored";
    return file.size + size > bounds.all ? "full" : undefined;
  }

  async #link(folder: OpenFolder, name: string, path: string, stats: Stats): Promise<void> {
    const { known, file } = this.#options;
    const before = known.get(path);
    if (before?.kind === "link" && hasStamp(before.stamp, stats) && !before.stamp.isFresh) return;
    const target = readLink(`${folder.at}/${name}`);
    // Replaced meanwhile: the next scan looks again.
    if (!target) return;
    const content = await file.keep(target);
    const isLinkIgnored = before ? before.isIgnored : await this.#isIgnored(folder, path, false);
    const isEqual = before?.kind === "link" && before.content === content;
    const state = { path, kind: "link" as const, mode: 0, content, isIgnored: isLinkIgnored };
    this.#found({ ...state, stamp: this.#stampOf(stats) }, isEqual);
  }

  /** Records a state. `isEqual`: the content is that of the recorded state. */
  #found(after: FoundEntry, isEqual = after.kind === "folder" || after.kind === "cache"): void {
    const { known, file } = this.#options;
    const before = known.get(after.path);
    if (before && isEqual && before.kind === after.kind && before.mode === after.mode) {
      if (before.stamp === after.stamp || after.kind === "folder" || after.kind === "cache") return;
      const refreshed = { ...before, content: after.content, stamp: after.stamp };
      file.refresh(refreshed);
      known.set(after.path, refreshed);
      return;
    }
    this.changes.push({ before, after });
  }

  #stampOf({ ino, size, mtimeMs, ctimeMs }: Stats): FileStamp {
    const isFresh = Math.max(mtimeMs, ctimeMs) > this.#now - FRESH;
    return { inode: ino, size, modified: mtimeMs, changed: ctimeMs, isFresh };
  }

  /** Reads a file whose content does not change meanwhile; undefined if that is impossible. */
  async #read(at: string): Promise<{ readonly bytes: Buffer; readonly stats: Stats } | undefined> {
    let descriptor: number;
    try {
      descriptor = openSync(at, OPEN_FILE);
    } catch {
      // Unreadable, or replaced meanwhile: the next scan looks again.
      return undefined;
    }
    try {
      for (let reads = 0; reads < MOST_READS; reads++) {
        const stats = fstatSync(descriptor);
        if (!stats.isFile() || stats.size > this.#options.bounds.file) return undefined;
        const bytes = Buffer.allocUnsafe(stats.size);
        let length = 0;
        while (length < bytes.length) {
          const read = readSync(descriptor, bytes, length, Math.min(PIECE, bytes.length - length), length);
          if (read === 0) break;
          length += read;
          if (performance.now() - this.#pausedAt > AT_ONCE) await this.#pause();
        }
        if (length === bytes.length && hasStamp(this.#stampOf(stats), fstatSync(descriptor))) return { bytes, stats };
      }
      return undefined;
    } finally {
      closeSync(descriptor);
    }
  }

  async #isIgnored(folder: OpenFolder, path: string, isFolder: boolean): Promise<boolean> {
    return folder.isIgnored || isIgnored(await folder.rules(), path, isFolder);
  }

  async #rulesIn(
    path: string,
    outer: (() => Promise<IgnoreRules | undefined>) | undefined,
  ): Promise<IgnoreRules | undefined> {
    const { workspace } = this.#options;
    const rules = await outer?.();
    const real = path === "" ? workspace.root : pathIn(workspace.root, path);
    const names = RULE_FILES.filter((name) => lstatSync(`${real}/${name}`, { throwIfNoEntry: false }) !== undefined);
    if (names.length === 0) return rules;
    await using directory = await openDirectory(workspace, real);
    // The folder stays open until its rules are read.
    return await rulesIn(workspace, directory, path === "" ? "." : path, rules, new Set(names));
  }
}

function readLink(at: string): Buffer | undefined {
  try {
    return readlinkSync(at, { encoding: "buffer" });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

const NO_STAMP: FileStamp = { inode: 0, size: 0, modified: 0, changed: 0, isFresh: false };

function hasStamp({ inode, size, modified, changed }: FileStamp, stats: Stats): boolean {
  return size === stats.size && modified === stats.mtimeMs && changed === stats.ctimeMs && inode === stats.ino;
}

function modeOf({ mode }: Stats): number {
  return mode & 0o7777;
}

function pathIn(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the names to look at in each folder. */
function namesByFolder(paths: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const path of paths)
    for (let at = path; at !== ""; at = folderOf(at)) {
      const parent = folderOf(at);
      names.set(parent, (names.get(parent) ?? new Set()).add(at.slice(parent === "" ? 0 : parent.length + 1)));
    }
  return names;
}

function pathsIn(names: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  return new Set([...names].flatMap(([folder, inside]) => [...inside].map((name) => pathIn(folder, name))));
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

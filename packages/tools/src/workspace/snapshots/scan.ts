import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats } from "node:fs";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { systemCode, WorkspaceError } from "../files/error.ts";
import { type IgnoreRules, isIgnored, rulesIn } from "../files/git-ignore.ts";
import { openDirectory } from "../files/open-path.ts";
import type { Workspace } from "../files/paths.ts";
import { isBelowRepository, isCache, type LeftOut, type SnapshotBounds } from "./coverage.ts";
import { hasStamp, hasStampOf, isSameStamp } from "./entry-on-disk.ts";
import type { KnownEntries } from "./known-entries.ts";
import { ScanFolder, UNREADABLE } from "./scan-folder.ts";
import type { Entry, EntryKind, FileStamp, SnapshotFile } from "./snapshot-file.ts";
import { folderOf, namesByFolder, pathBelow, pathsBelow } from "./tree-paths.ts";

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
  /** The latest recorded states. The scan replaces the states of unchanged files whose stamp changed. */
  readonly known: KnownEntries;
  /** Paths whose unchanged files are kept too, if their content is not kept yet. Changed files are always kept. */
  readonly keep: "all" | ReadonlySet<string>;
  /** The only paths to look at; absent: all. */
  readonly only?: readonly string[] | undefined;
  /** Makes folders readable whose permissions changed so that their owner cannot list them. Default: false. */
  readonly opens?: boolean | undefined;
}

/** `O_NONBLOCK`: a named pipe in place of the file opens at once and is refused afterwards. */
const OPEN_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Milliseconds of work between two pauses, in which other work of the process runs. */
const AT_ONCE = 12;
/** Milliseconds within which two changes of a file may have the same times: FAT counts in steps of two seconds. */
const FRESH = 2000;
/** Bytes to read between two looks at the clock. */
const PIECE = 1024 * 1024;
const MOST_READS = 4;
const MAYBE_MISSING = { throwIfNoEntry: false } as const;
const RULE_FILES = [".git", ".gitignore", ".ignore", ".rgignore"];

/**
 * Compares the workspace with its recorded states, and keeps the contents of changed files. Reads only files and lists
 * only folders whose size, inode or times changed. Follows no links, and leaves out `.git` and protected paths. Pauses let other work run.
 */
export class WorkspaceScan {
  readonly changes: FoundChange[] = [];
  readonly leftOut: LeftOut[] = [];
  /** The repositories, which no snapshot keeps, and the files with another name, which may be outside. */
  readonly untouched: string[] = [];
  readonly #options: ScanOptions;
  /** The recorded states of the existing paths. */
  readonly #seen: Entry[] = [];
  /** Number of the paths that are there. */
  #count = 0;
  readonly #folders = new Set<string>();
  /** Folders whose content cannot be listed. Each path ends with `/`. */
  readonly #unreadable: string[] = [];
  readonly #now = Date.now();
  /** True for the first scan of a workspace, whose files do not count as changes. */
  readonly #isFirst: boolean;
  readonly #only: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** Paths that tools never write, such as the program's own data. */
  readonly #closed: ReadonlySet<string>;
  #isInRepository: boolean | undefined;
  #pausedAt = performance.now();
  #ignoredBytes = 0;
  /** Bytes of the store, or more: compression and repeated contents save some. */
  #stored: number;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#isFirst = options.known.size === 0;
    this.#stored = options.file.size;
    this.#closed = new Set(options.workspace.protected);
    this.#only = options.only && namesByFolder(options.only);
    for (const { isIgnored, content, stamp } of options.known)
      if (isIgnored && content !== null) this.#ignoredBytes += stamp.size;
  }

  /** Rejects with a `WorkspaceError` if the workspace is too large. */
  async run(): Promise<void> {
    const { workspace, known } = this.#options;
    using root = new ScanFolder(workspace, undefined, {
      path: "",
      isIgnored: false,
      rules: once(() => this.#rulesIn("", undefined)),
    });
    if (root.at === undefined) throw new WorkspaceError("root", `The workspace ${workspace.root} cannot be read.`);
    await this.#folder(root, this.#only?.get(""));
    if (this.#seen.length === known.size) return;
    const looked = this.#only && pathsBelow(this.#only);
    const seen = new Set(this.#seen.map(({ path }) => path));
    for (const before of known) {
      const { path } = before;
      if (seen.has(path) || (looked && !this.#isGone(path, looked))) continue;
      if (this.#unreadable.some((folder) => path.startsWith(folder))) continue;
      this.changes.push({ before, after: undefined });
    }
  }

  /** With `only`: returns whether a path that was not seen, or a folder around it, is missing. */
  #isGone(path: string, looked: ReadonlySet<string>): boolean {
    for (let at = path; at !== ""; at = folderOf(at)) if (looked.has(at)) return !this.#folders.has(at);
    return false;
  }

  /**
   * Looks at the entries of a folder. `names`: its names if they are known; absent: the folder is listed. Returns whether
   * all entries can be recorded, and undefined if the folder cannot be listed.
   */
  async #folder(folder: ScanFolder, names: Iterable<string> | undefined): Promise<boolean | undefined> {
    const { known, bounds, workspace } = this.#options;
    const listed = names ?? this.#namesIn(folder);
    if (!listed) return undefined;
    const recorded = known.in(folder.path);
    const real = folder.path === "" ? workspace.root : `${workspace.root}/${folder.path}`;
    const siblings = once(() => new Set(this.#only ? this.#namesIn(folder) : listed));
    let isWhole = true;
    for (const name of listed) {
      if (performance.now() - this.#pausedAt > AT_ONCE) await this.#pause();
      if (name === ".git") {
        this.untouched.push(pathBelow(folder.path, name));
        // Only a list of the folder finds a repository again.
        isWhole = false;
        continue;
      }
      const before = recorded.get(name);
      const path = before?.path ?? pathBelow(folder.path, name);
      if (this.#closed.size > 0 && this.#closed.has(path)) continue;
      if (name.includes("\ufffd")) {
        this.leftOut.push({ path, why: "name" });
        isWhole = false;
        continue;
      }
      const stats = this.#statsAt(`${real}/${name}`, path, before);
      if (!stats) {
        isWhole = false;
        continue;
      }
      if (++this.#count > bounds.entries)
        throw new WorkspaceError(
          "root",
          `The workspace has more than ${bounds.entries} files and folders, so no snapshots of it are made.`,
        );
      if (stats.isFile()) {
        if (stats.nlink > 1) this.untouched.push(path);
        // Nearly all entries end here. An asynchronous call would take longer than the comparison.
        if (!isAsRecorded(before, stats)) await this.#file(folder, name, path, stats);
      } else if (stats.isDirectory()) await this.#subfolder(folder, { name, path, stats, siblings });
      else if (stats.isSymbolicLink()) await this.#link(folder, name, path, stats);
      else {
        this.leftOut.push({ path, why: "special" });
        const found = { path, kind: "special", mode: modeOf(stats), content: null, isIgnored: false } as const;
        this.#found({ ...found, stamp: this.#stampOf(stats) }, before?.kind === "special");
      }
      if (before) this.#seen.push(before);
    }
    return isWhole;
  }

  /** Returns undefined if the folder cannot be listed. */
  #namesIn(folder: ScanFolder): string[] | undefined {
    return folder.at === undefined ? undefined : readdirSync(folder.at);
  }

  /**
   * Returns undefined without an entry that can be seen. Looks along the plain path, which is twice as fast: contents are
   * read along open folders only.
   */
  #statsAt(real: string, path: string, before: Entry | undefined): Stats | undefined {
    try {
      return lstatSync(real, MAYBE_MISSING);
    } catch (error) {
      if (!UNREADABLE.has(systemCode(error) ?? "")) throw error;
      this.leftOut.push({ path, why: "unreadable" });
      // A path that cannot be read counts as unchanged.
      if (before) this.#seen.push(before);
      this.#unreadable.push(`${path}/`);
      return undefined;
    }
  }

  async #pause(): Promise<void> {
    await turnOfTheLoop();
    this.#pausedAt = performance.now();
  }

  async #subfolder(
    parent: ScanFolder,
    each: { name: string; path: string; stats: Stats; siblings: () => ReadonlySet<string> },
  ): Promise<void> {
    const { name, path, siblings } = each;
    const before = this.#options.known.get(path);
    const opens = this.#options.opens && before?.mode !== modeOf(each.stats);
    const stats = opens ? parent.makeReadable(name, each.stats) : each.stats;
    const isFolderIgnored = before ? before.isIgnored : await this.#isIgnored(parent, path, true);
    const inside = (file: string) => lstatSync(`${parent.at}/${name}/${file}`, MAYBE_MISSING) !== undefined;
    const canBeCache = before?.kind !== "folder" && (isFolderIgnored || !this.#isTracked());
    const kind = canBeCache && isCache(name, siblings(), inside) ? "cache" : "folder";
    const found = { path, kind, mode: modeOf(stats), content: null, isIgnored: isFolderIgnored } as const;
    if (kind === "cache") {
      this.leftOut.push({ path, why: "cache" });
      return this.#found({ ...found, stamp: NO_STAMP });
    }
    this.#folders.add(path);
    const isListed = before?.kind === "folder" && hasStampOf(stats, before);
    // Without a complete list of the folder, the next scan makes one.
    let stamp = isListed || (this.#only && before) ? before.stamp : { ...this.#stampOf(stats), isFresh: true };
    if (!this.#only || this.#only.has(path)) {
      using folder = new ScanFolder(this.#options.workspace, parent, {
        path,
        isIgnored: isFolderIgnored,
        rules: once(() => this.#rulesIn(path, parent.rules)),
      });
      const names = isListed ? [...this.#options.known.in(path).keys()] : undefined;
      const isWhole = await this.#folder(folder, this.#only?.get(path) ?? names);
      if (isWhole && !this.#only && !isListed) stamp = this.#stampOf(stats);
      if (isWhole === undefined) {
        this.leftOut.push({ path, why: "unreadable" });
        this.#unreadable.push(`${path}/`);
      }
    }
    this.#found({ ...found, stamp });
  }

  #isTracked(): boolean {
    this.#isInRepository ??= isBelowRepository(this.#options.workspace.root);
    return this.#isInRepository;
  }

  async #file(folder: ScanFolder, name: string, path: string, stats: Stats): Promise<void> {
    const { known, keep, file } = this.#options;
    const before = known.get(path);
    const isSame = before?.kind === "file" && hasStamp(before.stamp, stats);
    const isWanted = keep === "all" || keep.has(path);
    const isKept = before?.content !== null;
    if (isSame && !before.stamp.isFresh && (isKept || !isWanted)) {
      if (before.mode !== modeOf(stats)) this.#found({ ...before, mode: modeOf(stats) });
      else if (!isKept) this.#leave(before);
      return;
    }
    const isFileIgnored = before ? before.isIgnored : await this.#isIgnored(folder, path, false);
    const state = { path, kind: "file" as EntryKind, mode: modeOf(stats), isIgnored: isFileIgnored };
    const unread = { ...state, content: null, stamp: this.#stampOf(stats) };
    const wasKept = before?.kind === "file" && before.content !== null;
    if (!isWanted && (isSame || this.#isFirst) && !wasKept) {
      this.#leave(unread);
      return this.#found(unread, isSame);
    }
    const held = wasKept ? before.stamp.size : 0;
    const why = isSame && wasKept ? undefined : this.#whyNotKept(stats.size - held, stats.size, isFileIgnored);
    const read = why ? undefined : await this.#read(folder, name);
    if (!read) {
      this.leftOut.push({ path, why: why ?? "unreadable", size: stats.size });
      return this.#found(unread, isSame && !wasKept);
    }
    const content = await file.keep(read.bytes);
    this.#stored += read.bytes.length;
    if (isFileIgnored) this.#ignoredBytes += read.bytes.length - held;
    const isEqual = before?.kind === "file" && (before.content === content || (isSame && !wasKept));
    this.#found({ ...state, mode: modeOf(read.stats), content, stamp: this.#stampOf(read.stats) }, isEqual);
  }

  /** Reports an unchanged file without a content if a limit forbids one. */
  #leave({ path, stamp: { size }, isIgnored }: FoundEntry): void {
    const why = this.#whyNotKept(size, size, isIgnored);
    if (why) this.leftOut.push({ path, why, size });
  }

  /** `more`: bytes that the file needs beyond those of its kept content. */
  #whyNotKept(more: number, size: number, isIgnored: boolean): LeftOut["why"] | undefined {
    const { bounds, file } = this.#options;
    if (size > bounds.file) return "large";
    if (isIgnored && this.#ignoredBytes + more > bounds.ignored) return "ignored";
    if (this.#stored + size > bounds.all) this.#stored = file.size;
    return this.#stored + size > bounds.all ? "full" : undefined;
  }

  async #link(folder: ScanFolder, name: string, path: string, stats: Stats): Promise<void> {
    const { known, file } = this.#options;
    const before = known.get(path);
    if (before?.kind === "link" && hasStamp(before.stamp, stats) && !before.stamp.isFresh) return;
    const target = folder.readLink(name);
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
      if (before.content === after.content && isSameStamp(before.stamp, after.stamp)) return;
      const refreshed = { ...before, content: after.content, stamp: after.stamp };
      file.refresh(refreshed);
      known.set(refreshed);
      return;
    }
    this.changes.push({ before, after });
  }

  #stampOf({ ino, size, mtimeMs, ctimeMs }: Stats): FileStamp {
    const isFresh = Math.max(mtimeMs, ctimeMs) > this.#now - FRESH;
    return { inode: ino, size, modified: mtimeMs, changed: ctimeMs, isFresh };
  }

  /** Reads a file whose content does not change meanwhile; undefined if that is impossible. */
  async #read(
    folder: ScanFolder,
    name: string,
  ): Promise<{ readonly bytes: Buffer; readonly stats: Stats } | undefined> {
    if (folder.at === undefined) return undefined;
    let descriptor: number;
    try {
      descriptor = openSync(`${folder.at}/${name}`, OPEN_FILE);
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

  async #isIgnored(folder: ScanFolder, path: string, isFolder: boolean): Promise<boolean> {
    return folder.isIgnored || isIgnored(await folder.rules(), path, isFolder);
  }

  async #rulesIn(
    path: string,
    outer: (() => Promise<IgnoreRules | undefined>) | undefined,
  ): Promise<IgnoreRules | undefined> {
    const { workspace } = this.#options;
    const rules = await outer?.();
    const real = path === "" ? workspace.root : pathBelow(workspace.root, path);
    const names = RULE_FILES.filter((name) => lstatSync(`${real}/${name}`, MAYBE_MISSING) !== undefined);
    if (names.length === 0) return rules;
    await using directory = await openDirectory(workspace, real);
    // The folder stays open until its rules are read.
    return await rulesIn(workspace, directory, path === "" ? "." : path, rules, new Set(names));
  }
}

const NO_STAMP: FileStamp = { inode: 0, size: 0, modified: 0, changed: 0, isFresh: false };

/** Returns whether a file surely has its recorded mode and its recorded content, which is kept. */
function isAsRecorded(before: Entry | undefined, stats: Stats): boolean {
  return (
    before?.kind === "file" && before.content !== null && before.mode === modeOf(stats) && hasStampOf(stats, before)
  );
}

function modeOf({ mode }: Stats): number {
  return mode & 0o7777;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

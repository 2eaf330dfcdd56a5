import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { FileChange } from "@banyan/core/conversation";
import { keepBackup } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import type { KeyWatch } from "../files/key-file.ts";
import { listFiles } from "../files/list-files.ts";
import { openFile } from "../files/open-path.ts";
import { locate, type Workspace } from "../files/paths.ts";
import { type FileContent, fileChange, fileContent } from "./file-change.ts";

/**
 * A file change that another program reports: the new text, and the text that it replaces. See {@link reportedDiff}.
 */
export interface ReportedChange {
  /** The path, relative to the workspace or absolute. */
  readonly path: string;
  /** The replaced text. `null`: there was no file, or the report omits the text. */
  readonly oldText: string | null;
  readonly newText: string;
}

/** One tool call of another program that changes files. See {@link ForeignChanges}. */
export interface ForeignCall {
  /** Records the current content of a file that may change soon. Ignores paths that are no file of the workspace. */
  note(path: string): Promise<void>;
  /**
   * Ends the call, at most once. Returns the changes of the recorded files. `reported` adds changes of files that were
   * recorded too late, as far as the report allows.
   */
  settle(reported?: readonly ReportedChange[]): Promise<FileChange[]>;
}

interface NotedFile {
  readonly stamp: string;
  readonly bytes?: Buffer;
}

const MOST_BYTES = 64 * 1024 * 1024;
/** In a larger workspace, only files that calls name are recorded. */
const MOST_FILES = 20_000;
/** Bytes to keep of all files without a call, and of one file. */
const MOST_KEPT = 32 * 1024 * 1024;
const MOST_KEPT_OF_ONE = 1024 * 1024;
/** Represents a previous content that is unknown, but differed. */
const UNKNOWN: FileContent = { digest: "unknown" };

/** A file in use by calls: its content at the first record, or after the last call. */
interface BusyFile {
  content: FileContent | undefined;
  calls: number;
}

/**
 * Records file changes by another program, which does not use our tools. Compares contents before and after each call.
 * Each change therefore belongs to its call and can be undone.
 * @example
 * const changes = new ForeignChanges(workspace, { backups: "/home/me/backups" });
 * const begun = changes.begin();
 * await begun.note("a.txt");
 * for (const { path, added } of await begun.settle()) console.log(path, added);
 */
export class ForeignChanges {
  readonly #workspace: Workspace;
  readonly #backups: string | undefined;
  readonly #watch: KeyWatch | undefined;
  readonly #held = new Map<string, BusyFile>();
  /** The last recorded state of all files of the workspace that git does not ignore. */
  #all: Map<string, NotedFile> | undefined;

  /** `backups`: optional folder for previous contents. `watch` gets the whole contents of files whose diffs show a part. */
  constructor(workspace: Workspace, { backups, watch }: { readonly backups?: string; readonly watch?: KeyWatch } = {}) {
    this.#workspace = workspace;
    this.#backups = backups;
    this.#watch = watch;
  }

  /**
   * Records all files of the workspace that git does not ignore, for `unnamed`; does nothing above 20,000 files. Keeps
   * the content of small files in memory, up to 32 MiB in all. The previous content of other files stays unknown.
   */
  async noteAll(): Promise<void> {
    const stamps = await workspaceStamps(this.#workspace.root);
    if (stamps === undefined) return;
    const all = new Map<string, NotedFile>();
    let room = MOST_KEPT;
    for (const [path, { stamp, size }] of stamps) {
      const bytes = size <= Math.min(room, MOST_KEPT_OF_ONE) ? await this.#read(path) : undefined;
      if (!Buffer.isBuffer(bytes)) all.set(path, { stamp });
      else {
        all.set(path, { stamp, bytes });
        room -= bytes.length;
      }
    }
    this.#all = all;
  }

  /** Returns changes of files without a call, since `noteAll` or the last call of `unnamed`. */
  async unnamed(): Promise<FileChange[]> {
    const all = this.#all;
    const stamps = all && (await workspaceStamps(this.#workspace.root));
    if (!all || !stamps) return [];
    const changes: FileChange[] = [];
    for (const path of new Set([...all.keys(), ...stamps.keys()])) {
      const before = all.get(path);
      const stamp = stamps.get(path)?.stamp;
      if (before?.stamp === stamp || this.#held.has(path)) continue;
      const bytes = await this.#read(path);
      if (bytes === "unreadable" || (stamp === undefined && bytes)) continue;
      this.#note(path, bytes);
      const [old, now] = [before?.bytes && fileContent(before.bytes), bytes && fileContent(bytes)];
      const previous = before && (old ?? UNKNOWN);
      if (previous?.digest === now?.digest) continue;
      if (before?.bytes) await keepBackup(this.#backups, [before.bytes]);
      for (const content of [old, now]) this.#watch?.()(content?.text ?? "");
      changes.push(fileChange(path, previous, now));
    }
    return changes;
  }

  #note(path: string, bytes: Buffer | undefined): void {
    const stamp = workspaceStamp(this.#workspace.root, path)?.stamp;
    if (bytes === undefined || stamp === undefined) this.#all?.delete(path);
    else this.#all?.set(path, bytes.length <= MOST_KEPT_OF_ONE ? { stamp, bytes } : { stamp });
  }

  begin(): ForeignCall {
    const own = new Set<string>();
    return {
      note: async (named) => {
        const path = await this.#pathOf(named);
        if (path === undefined || own.has(path)) return;
        const held = this.#held.get(path);
        // Another call has the file: its final content is the start content of this call.
        if (held) held.calls++;
        else {
          const bytes = await this.#read(path);
          if (bytes === "unreadable") return;
          if (bytes) await keepBackup(this.#backups, [bytes]);
          this.#held.set(path, { content: bytes && fileContent(bytes), calls: 1 });
        }
        own.add(path);
      },
      settle: async (reported = []) => {
        const changes: FileChange[] = [];
        for (const path of own) changes.push(...(await this.#settle(path)));
        for (const change of reported) changes.push(...(await this.#rebuilt(change, changes)));
        return changes;
      },
    };
  }

  async #settle(path: string): Promise<FileChange[]> {
    const held = this.#held.get(path);
    if (!held) return [];
    held.calls--;
    if (held.calls === 0) this.#held.delete(path);
    const bytes = await this.#read(path);
    if (bytes === "unreadable") return [];
    this.#note(path, bytes);
    const now = bytes && fileContent(bytes);
    if (now?.digest === held.content?.digest) return [];
    if (bytes && held.calls > 0) await keepBackup(this.#backups, [bytes]);
    const change = fileChange(path, held.content, now);
    for (const content of [held.content, now]) this.#watch?.()(content?.text ?? "");
    held.content = now;
    return [change];
  }

  /** Reconstructs the content before an unrecorded change, if exactly one place of the text fits. */
  async #rebuilt(
    { path: given, oldText, newText }: ReportedChange,
    known: readonly FileChange[],
  ): Promise<FileChange[]> {
    const path = await this.#pathOf(given);
    if (path === undefined || known.some((change) => change.path === path)) return [];
    const bytes = await this.#read(path);
    if (!bytes || bytes === "unreadable") return [];
    const now = fileContent(bytes);
    if (now.text === undefined || oldText === newText) return [];
    const before = textBefore(now.text, oldText, newText);
    if (before === undefined) return [];
    this.#note(path, bytes);
    const previous = Buffer.from(before);
    await keepBackup(this.#backups, [previous]);
    for (const text of [before, now.text]) this.#watch?.()(text);
    return [fileChange(path, fileContent(previous), now)];
  }

  async #pathOf(named: string): Promise<string | undefined> {
    try {
      const { path, kind } = await locate(this.#workspace, named);
      return kind === "file" || kind === "missing" ? path : undefined;
    } catch (error) {
      if (error instanceof WorkspaceError) return undefined;
      throw error;
    }
  }

  async #read(path: string): Promise<Buffer | undefined | "unreadable"> {
    try {
      await using file = await openFile(this.#workspace, path);
      return file.stats.size > MOST_BYTES ? "unreadable" : await file.handle.readFile();
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      return error.code === "missing" ? undefined : "unreadable";
    }
  }
}

/** Returns the files that git does not ignore, with their stamps; undefined if the folder has too many files. */
async function workspaceStamps(root: string): Promise<ReadonlyMap<string, Stamp> | undefined> {
  const paths = await listFiles(root);
  if (paths.length > MOST_FILES) return undefined;
  return new Map(
    paths.flatMap((path) => {
      const stamp = workspaceStamp(root, path);
      return stamp === undefined ? [] : [[path, stamp] as const];
    }),
  );
}

interface Stamp {
  readonly stamp: string;
  readonly size: number;
}

function workspaceStamp(root: string, path: string): Stamp | undefined {
  const stats = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
  if (!stats?.isFile()) return undefined;
  return { stamp: `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`, size: Number(stats.size) };
}

/**
 * Returns the diff of a change that another program proposes, for an approval. Lines are counted in the reported texts.
 * @example const { diff } = reportedDiff({ path: "a.txt", oldText: "oak\n", newText: "elm\n" });
 */
export function reportedDiff({ path, oldText, newText }: ReportedChange): FileChange {
  const [before, after] = [oldText, newText].map((text) =>
    text === null ? undefined : fileContent(Buffer.from(text)),
  );
  return fileChange(path, before, after);
}

/**
 * Returns the text before a replacement; undefined if ambiguous. A report of a missing file is not believed: some
 * programs report every full rewrite like that, and an undo would delete the file.
 */
function textBefore(now: string, oldText: string | null, newText: string): string | undefined {
  if (oldText === null || newText === "") return undefined;
  if (now === newText) return oldText;
  const at = now.indexOf(newText);
  if (at === -1 || now.indexOf(newText, at + 1) !== -1) return undefined;
  return now.slice(0, at) + oldText + now.slice(at + newText.length);
}

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { FileChange } from "@banyan/core/conversation";
import { keepContent } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import type { Watch } from "../files/key-file.ts";
import { listFiles } from "../files/list-files.ts";
import { openFile } from "../files/open-path.ts";
import { locate, type Workspace } from "../files/paths.ts";
import { contentOf, type FileContent, fileChange } from "./file-change.ts";

/** What somebody says that they did in a file: a text in it, or all of it, and what stands there now. */
export interface ToldChange {
  /** Relative to the workspace, or absolute. */
  readonly path: string;
  /** `null`: there was no file, or it is not told. */
  readonly oldText: string | null;
  readonly newText: string;
}

/** What one call of somebody else does to files. */
export interface ForeignCall {
  /** Keeps what stands in a file now: it may be about to be changed. What is no file of the workspace is passed over. */
  note(path: string): Promise<void>;
  /**
   * The call is over: what became of the files since they were noted. With `told`, also what was noted too late, as far as
   * what is told says how it was. Each call is asked once.
   */
  settle(told?: readonly ToldChange[]): Promise<FileChange[]>;
}

/** A file of the workspace as it was last noted. */
interface Noted {
  /** Changes whenever the file does. */
  readonly stamp: string;
  /** Absent where it is not kept. */
  readonly bytes?: Buffer;
}

/** Bytes of a file above which it is not kept. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Files of a workspace above which only what calls name is noted. */
const MOST_FILES = 20_000;
/** Bytes of all files that are kept while no call names them, and of one of them. */
const MOST_KEPT = 32 * 1024 * 1024;
const MOST_KEPT_OF_ONE = 1024 * 1024;
/** A previous content of which nothing is known but that it was another one. */
const UNKNOWN: FileContent = { digest: "unknown" };

/** A file that calls are at work on: what stood there when one of them noted it, or when the last of them was over. */
interface Held {
  content: FileContent | undefined;
  calls: number;
}

/**
 * Changes that a program of somebody else makes to files of a workspace, which no tool of ours writes: noted before and
 * compared after, so that they stand with the calls that made them and can be taken back.
 */
export class ForeignChanges {
  readonly #workspace: Workspace;
  readonly #backups: string | undefined;
  readonly #watch: Watch | undefined;
  readonly #held = new Map<string, Held>();
  /** All files of the workspace that git does not ignore, as they were last noted. */
  #all: Map<string, Noted> | undefined;

  /** Previous contents are kept in `backups`, if there is such a folder; `watch` is told of what diffs show a part of. */
  constructor(workspace: Workspace, { backups, watch }: { readonly backups?: string; readonly watch?: Watch } = {}) {
    this.#workspace = workspace;
    this.#backups = backups;
    this.#watch = watch;
  }

  /**
   * Notes all files of the workspace that git does not ignore, for `unnamed`: in a workspace of at most 20,000 files. The content
   * of small files is kept in memory, 32 MiB in all; of the others it is not known later what stood in them.
   */
  async noteAll(): Promise<void> {
    const stamps = await stampsIn(this.#workspace.root);
    if (stamps === undefined) return;
    const all = new Map<string, Noted>();
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

  /** Returns changes of files that no call names, since all files were noted or since the last question. */
  async unnamed(): Promise<FileChange[]> {
    const all = this.#all;
    const stamps = all && (await stampsIn(this.#workspace.root));
    if (!all || !stamps) return [];
    const changes: FileChange[] = [];
    for (const path of new Set([...all.keys(), ...stamps.keys()])) {
      const before = all.get(path);
      const stamp = stamps.get(path)?.stamp;
      if (before?.stamp === stamp || this.#held.has(path)) continue;
      const bytes = await this.#read(path);
      // Git ignores the file by now.
      if (bytes === "unreadable" || (stamp === undefined && bytes)) continue;
      this.#note(path, bytes);
      const [old, now] = [before?.bytes && contentOf(before.bytes), bytes && contentOf(bytes)];
      const previous = before && (old ?? UNKNOWN);
      if (previous?.digest === now?.digest) continue;
      if (before?.bytes) await keepContent(this.#backups, [before.bytes]);
      for (const content of [old, now]) this.#watch?.()(content?.text ?? "");
      changes.push(fileChange(path, previous, now));
    }
    return changes;
  }

  /** Remembers a file as it is now, so that its change is told once. */
  #note(path: string, bytes: Buffer | undefined): void {
    const stamp = stampOf(this.#workspace.root, path)?.stamp;
    if (bytes === undefined || stamp === undefined) this.#all?.delete(path);
    else this.#all?.set(path, bytes.length <= MOST_KEPT_OF_ONE ? { stamp, bytes } : { stamp });
  }

  /** A call begins. */
  begin(): ForeignCall {
    const own = new Set<string>();
    return {
      note: async (given) => {
        const path = await this.#pathOf(given);
        if (path === undefined || own.has(path)) return;
        const held = this.#held.get(path);
        // Another call holds it: what that one finds at its end is where this one begins.
        if (held) held.calls++;
        else {
          const bytes = await this.#read(path);
          if (bytes === "unreadable") return;
          if (bytes) await keepContent(this.#backups, [bytes]);
          this.#held.set(path, { content: bytes && contentOf(bytes), calls: 1 });
        }
        own.add(path);
      },
      settle: async (told = []) => {
        const changes: FileChange[] = [];
        for (const path of own) changes.push(...(await this.#settle(path)));
        for (const change of told) changes.push(...(await this.#rebuilt(change, changes)));
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
    const now = bytes && contentOf(bytes);
    if (now?.digest === held.content?.digest) return [];
    if (bytes && held.calls > 0) await keepContent(this.#backups, [bytes]);
    const change = fileChange(path, held.content, now);
    for (const content of [held.content, now]) this.#watch?.()(content?.text ?? "");
    held.content = now;
    return [change];
  }

  /** A change that was made before anybody noted the file: undone in thought, where only one place can be meant. */
  async #rebuilt({ path: given, oldText, newText }: ToldChange, known: readonly FileChange[]): Promise<FileChange[]> {
    const path = await this.#pathOf(given);
    if (path === undefined || known.some((change) => change.path === path)) return [];
    const bytes = await this.#read(path);
    if (!bytes || bytes === "unreadable") return [];
    const now = contentOf(bytes);
    if (now.text === undefined || oldText === newText) return [];
    const before = textBefore(now.text, oldText, newText);
    if (before === undefined) return [];
    this.#note(path, bytes);
    const previous = Buffer.from(before);
    await keepContent(this.#backups, [previous]);
    for (const text of [before, now.text]) this.#watch?.()(text);
    return [fileChange(path, contentOf(previous), now)];
  }

  /** From the root; nothing for what lies outside, or cannot be a file. */
  async #pathOf(given: string): Promise<string | undefined> {
    try {
      const { path, kind } = await locate(this.#workspace, given);
      return kind === "file" || kind === "missing" ? path : undefined;
    } catch (error) {
      if (error instanceof WorkspaceError) return undefined;
      throw error;
    }
  }

  /** Nothing for a file that is not there. */
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

/** The files of a folder that git does not ignore, each with a stamp that a change changes; nothing where there are too many. */
async function stampsIn(root: string): Promise<ReadonlyMap<string, Stamp> | undefined> {
  const paths = await listFiles(root);
  if (paths.length > MOST_FILES) return undefined;
  return new Map(
    paths.flatMap((path) => {
      const stamp = stampOf(root, path);
      return stamp === undefined ? [] : [[path, stamp] as const];
    }),
  );
}

interface Stamp {
  readonly stamp: string;
  readonly size: number;
}

/** Nothing for what is no file, and for a link. */
function stampOf(root: string, path: string): Stamp | undefined {
  const stats = lstatSync(join(root, path), { bigint: true, throwIfNoEntry: false });
  if (!stats?.isFile()) return undefined;
  return { stamp: `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`, size: Number(stats.size) };
}

/** A change as it is told, before anybody makes it: for a person who is asked. Its lines are counted in what is told. */
export function toldDiff({ path, oldText, newText }: ToldChange): FileChange {
  const [before, after] = [oldText, newText].map((text) => (text === null ? undefined : contentOf(Buffer.from(text))));
  return fileChange(path, before, after);
}

/**
 * What a text was before a piece of it, or all of it, was replaced; nothing when it cannot be said. That there was no file
 * is not believed: some say so of each file that they write as a whole, and to take that back would remove it.
 */
function textBefore(now: string, oldText: string | null, newText: string): string | undefined {
  if (oldText === null || newText === "") return undefined;
  if (now === newText) return oldText;
  const at = now.indexOf(newText);
  if (at === -1 || now.indexOf(newText, at + 1) !== -1) return undefined;
  return now.slice(0, at) + oldText + now.slice(at + newText.length);
}

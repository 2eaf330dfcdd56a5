import type { FileChange } from "@banyan/core/conversation";
import { keepContent } from "./backups.ts";
import { WorkspaceError } from "./error.ts";
import { contentOf, type FileContent, fileChange } from "./file-change.ts";
import type { Watch } from "./key-file.ts";
import { openFile } from "./open-path.ts";
import { locate, type Workspace } from "./paths.ts";

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

/** Bytes of a file above which it is not kept. */
const MOST_BYTES = 64 * 1024 * 1024;

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

  /** Previous contents are kept in `backups`, if there is such a folder; `watch` is told of what diffs show a part of. */
  constructor(workspace: Workspace, { backups, watch }: { readonly backups?: string; readonly watch?: Watch } = {}) {
    this.#workspace = workspace;
    this.#backups = backups;
    this.#watch = watch;
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

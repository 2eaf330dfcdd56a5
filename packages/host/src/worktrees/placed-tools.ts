import { statSync } from "node:fs";
import type { Tool } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import type { PreviewContext } from "@banyan/core/hosts";
import type { Sandbox } from "@banyan/tools/sandbox";
import type { Worktrees } from "./worktrees.ts";

/** The sandbox of commands. Absent: commands run without a sandbox. */
export interface Confinement extends AsyncDisposable {
  readonly sandbox: Sandbox | undefined;
  /** A description for users. */
  readonly description: string;
  readonly notices: readonly string[];
}

/** Options of `PlacedTools`. */
export interface PlacedToolsOptions {
  readonly worktrees: Worktrees;
  /** Returns the tools for a folder, always in the same order. Commands run in the sandbox, if any. */
  tools(folder: string | undefined, sandbox: Sandbox | undefined): readonly Tool[];
  /** Opens a sandbox for a folder. Rejects if a required sandbox is missing. */
  confine(folder: string): Promise<Confinement>;
}

/** Tools whose calls work in the folder of their branch (C7): the workspace, or the branch's worktree. */
export class PlacedTools implements AsyncDisposable {
  readonly tools: readonly Tool[];
  readonly #options: PlacedToolsOptions;
  readonly #looking = new Map<string, readonly Tool[]>();
  readonly #running = new Map<string, Promise<readonly Tool[]>>();
  readonly #confined = new Map<string, Promise<Confinement>>();

  /** `sandbox`: the workspace's. */
  constructor(options: PlacedToolsOptions, sandbox: Sandbox | undefined) {
    this.#options = options;
    this.tools = options.tools(undefined, sandbox).map((own, index) => ({
      ...own,
      ...(own.folder && { folder: (context) => this.folderAt(context) }),
      ...(own.preview && {
        preview: async (input, context) => (await this.#at(own, index, context)).preview?.(input, context) ?? {},
      }),
      execute: async (input, context) => (await this.#at(own, index, context)).execute(input, context),
    }));
  }

  /** The folder for calls of a branch. Rejects with a `WorktreeError`. */
  folderAt({ conversation, path }: PreviewContext): Promise<string> {
    return this.#options.worktrees.folderAt(conversation, path.at(-1)?.id);
  }

  /** The sandbox of a worktree's folder. Rejects if a required sandbox is missing. */
  async sandboxAt(folder: string): Promise<Sandbox | undefined> {
    return (await keptOrMade(this.#confined, folder, () => this.#options.confine(folder))).sandbox;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const confined = await Promise.allSettled(this.#confined.values());
    for (const each of confined) if (each.status === "fulfilled") await each.value[Symbol.asyncDispose]();
  }

  async #at(own: Tool, index: number, context: PreviewContext): Promise<Tool> {
    if (worktreeAt(context.conversation, context.path.at(-1)?.id) === undefined) return own;
    return (await this.#toolsIn(await this.folderAt(context), own))[index] ?? own;
  }

  /** Tools that only read and write files need no sandbox, and do not wait for one. */
  async #toolsIn(folder: string, { files, effects }: Tool): Promise<readonly Tool[]> {
    const { tools } = this.#options;
    // The inode: a user may remove a worktree and make another one in its folder.
    const key = `${statSync(folder).ino} ${folder}`;
    if (files === undefined && effects !== "none")
      return keptOrMade(this.#running, key, async () => tools(folder, await this.sandboxAt(folder)));
    const known = this.#looking.get(key) ?? tools(folder, undefined);
    this.#looking.set(key, known);
    return known;
  }
}

/** A rejected promise is not kept. */
function keptOrMade<Made>(known: Map<string, Promise<Made>>, key: string, make: () => Promise<Made>): Promise<Made> {
  const there = known.get(key);
  if (there) return there;
  const making = make();
  known.set(key, making);
  making.catch(() => known.delete(key));
  return making;
}

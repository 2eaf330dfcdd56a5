import type { Follower, Tool, ToolContext } from "@banyan/core";
import type { PreviewContext } from "@banyan/core/hosts";
import type { LimitedCommands } from "../commands/limited-commands.ts";
import { WorkspaceError } from "../files/error.ts";
import { locate, type Workspace } from "../files/paths.ts";
import type { LeftOut } from "./coverage.ts";
import { LimitedSnapshots, staysInBackground } from "./limited-snapshots.ts";
import type { ScanOptions } from "./scan.ts";
import type { Occasion } from "./snapshot-file.ts";
import type { WorkspaceSnapshots } from "./snapshots.ts";

/**
 * Wraps tools so that a snapshot of the workspace precedes the first effect of each step. Tools that write files name
 * their files, so only these contents are kept; all other tools with effects may change any file. A failed snapshot does
 * not stop a call: the user sees a line about it. The result of a command has the number of files that it changed.
 * `onlyReads`: whether a command changes no file, so it needs no snapshot. A call of `limited` runs only with snapshots.
 * @example
 * const snapshots = new WorkspaceSnapshots(workspace, { folder: "/home/me/snapshots" });
 * const [write] = snapshotTools(snapshots, [writeTool(workspace)]);
 */
export function snapshotTools(
  snapshots: WorkspaceSnapshots,
  tools: readonly Tool[],
  onlyReads?: (command: string) => boolean,
  limited?: LimitedCommands,
): Tool[] {
  const steps = new Steps(snapshots, onlyReads, limited);
  return tools.map((tool) => (tool.effects === "none" || tool.control ? tool : steps.wrap(tool)));
}

class Steps {
  readonly #snapshots: WorkspaceSnapshots;
  readonly #onlyReads: ((command: string) => boolean) | undefined;
  readonly #limited: LimitedSnapshots | undefined;
  /** The message that edits files in a run, by run: calls of an earlier message report the changes. */
  readonly #editing = new Map<string, string>();
  /** Conversations that have started background commands. */
  readonly #busy = new Set<string>();

  constructor(
    snapshots: WorkspaceSnapshots,
    onlyReads: ((command: string) => boolean) | undefined,
    limited: LimitedCommands | undefined,
  ) {
    this.#snapshots = snapshots;
    this.#onlyReads = onlyReads;
    this.#limited = limited && new LimitedSnapshots(snapshots, limited, this.#busy);
  }

  wrap(tool: Tool): Tool {
    return {
      ...tool,
      preview: async (input, context) => {
        const shown = (await tool.preview?.(input, context)) ?? {};
        const notes = await this.#notKept(tool, input, context);
        return notes.length === 0 ? shown : { ...shown, notes: [...(shown.notes ?? []), ...notes] };
      },
      execute: async (input, context) => {
        const message = context.path.at(-1);
        // Programs that call a tool without an engine have no messages.
        if (message === undefined) return tool.execute(input, context);
        if (this.#limited?.calls.isLimited(context)) return this.#limited.execute(tool, input, context);
        if (this.#onlyLooks(tool, input)) return tool.execute(input, context);
        const run = ("run" in message ? message.run : undefined) ?? message.id;
        const occasion = { conversation: context.conversation.id, message: message.id, call: context.call };
        const namesFiles = tool.files === "write";
        const keep = namesFiles ? await namedFiles(this.#snapshots.workspace, tool, input) : "all";
        const isMade = await this.#before(occasion, keep, context);
        if (!isMade) return tool.execute(input, context);
        if (namesFiles) return tool.execute(input, this.#watched(context, occasion, run));
        if (staysInBackground(input)) this.#busy.add(occasion.conversation);
        try {
          return await tool.execute(input, context);
        } finally {
          await this.#attempt(context, async () => {
            context.changedFiles(await this.#snapshots.after(occasion));
            await this.#limited?.keepRepositories();
          });
        }
      },
    };
  }

  #onlyLooks(tool: Tool, input: unknown): boolean {
    const { command, looksAt } = tool.about?.(input) ?? {};
    return looksAt !== undefined || (command !== undefined && (this.#onlyReads?.(command) ?? false));
  }

  /** Returns a sentence for the user who allows a call, if the call may change files that no snapshot keeps. */
  async #notKept(tool: Tool, input: unknown, { conversation }: PreviewContext): Promise<string[]> {
    if (this.#onlyLooks(tool, input)) return [];
    try {
      const leftOut = await this.#snapshots.leftOut(conversation.id, this.#busy.has(conversation.id));
      const named = tool.files === "write" ? await namedFiles(this.#snapshots.workspace, tool, input) : undefined;
      const large = leftOut.filter(({ path, why }) => TOO_LARGE.has(why) && (named?.has(path) ?? true));
      if (large.length === 0) return [];
      const names = large.slice(0, MOST_NAMED).map(({ path, size = 0 }) => `${path} (${shownBytes(size)})`);
      const more = large.length > MOST_NAMED ? [`${large.length - MOST_NAMED} more`] : [];
      return [
        `/rewind cannot restore these files, which are too large for a snapshot: ${[...names, ...more].join(", ")}.`,
      ];
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      return [`/rewind cannot restore the files of this call: ${error.message}`];
    }
  }

  /** Records each reported change. A change by a later message of the run belongs to that message. */
  #watched(context: ToolContext, occasion: Occasion, run: string): ToolContext {
    return {
      ...context,
      changed: async (change) => {
        await context.changed(change);
        const by = { ...occasion, message: this.#editing.get(run) ?? occasion.message };
        await this.#attempt(context, async () => {
          await this.#snapshots.after(by, [change.path]);
        });
      },
      follow: (follower) => context.follow(this.#editingFollower(follower, context, occasion, run)),
    };
  }

  #editingFollower(follower: Follower, context: ToolContext, occasion: Occasion, run: string): Follower {
    return {
      ...follower,
      completed: async (message) => {
        await this.#before({ ...occasion, message: message.id }, new Set(), context);
        this.#editing.set(run, message.id);
        try {
          return await follower.completed?.(message);
        } finally {
          if (this.#editing.get(run) === message.id) this.#editing.delete(run);
        }
      },
    };
  }

  #before(occasion: Occasion, keep: ScanOptions["keep"], context: ToolContext): Promise<boolean> {
    const isBusy = this.#busy.has(occasion.conversation);
    return this.#attempt(context, () => this.#snapshots.before(occasion, keep, isBusy));
  }

  async #attempt(context: ToolContext, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      context.progress(`[No snapshot, so /rewind cannot restore the files of this call: ${error.message}]\n`);
      return false;
    }
  }
}

const TOO_LARGE: ReadonlySet<LeftOut["why"]> = new Set(["large", "ignored", "full"]);
const MOST_NAMED = 3;

function shownBytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2).toLocaleString("en")} MiB`;
}

/** Returns the files that a call will write, with links followed. Other paths fail in the call itself. */
async function namedFiles(workspace: Workspace, tool: Tool, input: unknown): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { path } of tool.about?.(input).paths ?? []) {
    try {
      found.add((await locate(workspace, path)).path);
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
    }
  }
  return found;
}

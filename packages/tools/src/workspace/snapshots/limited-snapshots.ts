import { chmodSync, statSync } from "node:fs";
import type { Tool, ToolContext } from "@banyan/core";
import type { LimitedCommands } from "../commands/limited-commands.ts";
import { WorkspaceError } from "../files/error.ts";
import type { Occasion } from "./snapshot-file.ts";
import type { WorkspaceSnapshots } from "./snapshots.ts";

/** A background command with limits. */
interface RunningCommand {
  readonly occasion: Occasion;
  unkept: readonly string[];
  /** The permissions of the workspace folder, which no snapshot has. */
  readonly mode: number;
}

/** Runs the calls of `LimitedCommands`, so that a rewind restores every file that their commands change (S37). */
export class LimitedSnapshots {
  readonly calls: LimitedCommands;
  readonly #snapshots: WorkspaceSnapshots;
  readonly #busy: Set<string>;
  readonly #running = new Set<RunningCommand>();

  /** `busy`: the conversations that have started background commands. */
  constructor(snapshots: WorkspaceSnapshots, calls: LimitedCommands, busy: Set<string>) {
    this.#snapshots = snapshots;
    this.calls = calls;
    this.#busy = busy;
  }

  /** Rejects with a `NotExecutedError` if no snapshot can be made before the call. */
  async execute(tool: Tool, input: unknown, context: ToolContext): Promise<Awaited<ReturnType<Tool["execute"]>>> {
    this.calls.check(context);
    const { conversation, call } = context;
    const occasion = { conversation: conversation.id, message: context.path.at(-1)?.id ?? "", call };
    const { root } = this.#snapshots.workspace;
    const { mode } = statSync(root);
    const unkept = await this.#orLost(context, async () => {
      for (const running of this.#running) await this.#after(running);
      const isBusy = this.#busy.has(conversation.id);
      const found = await this.#snapshots.unkept(conversation.id, isBusy);
      await this.#snapshots.before(occasion, "all", isBusy);
      return found;
    });
    const running = { occasion, unkept, mode };
    if (staysInBackground(input)) this.#busy.add(conversation.id);
    try {
      return await this.calls.run(context, unkept, async () => tool.execute(input, this.#watched(context, running)));
    } finally {
      await this.#orLost(context, async () => {
        const { changedFiles, notices } = await this.#after(running);
        context.changedFiles(changedFiles);
        for (const notice of notices) context.progress(`[${notice}]\n`);
      }).catch((error: Error) => context.progress(`[${error.message}]\n`));
    }
  }

  /** After a call without limits, its new repositories are no longer those of a running command. */
  async keepRepositories(): Promise<void> {
    for (const running of this.#running)
      running.unkept = [...running.unkept, ...(await this.#snapshots.unkept(running.occasion.conversation, true))];
  }

  /** Looks at the changes of a background command once more when the command has ended. */
  #watched(context: ToolContext, running: RunningCommand): ToolContext {
    return {
      ...context,
      stay: (work) => {
        this.#running.add(running);
        work.over
          .then(() => this.#orLost(context, () => this.#after(running)))
          .catch(() => {
            // The loss was reported.
          })
          .finally(() => this.#running.delete(running));
        return context.stay(work);
      },
    };
  }

  #after({ occasion, unkept, mode }: RunningCommand) {
    const { root } = this.#snapshots.workspace;
    if (statSync(root).mode !== mode) chmodSync(root, mode & 0o7777);
    return this.#snapshots.afterLimited(occasion, unkept);
  }

  async #orLost<Result>(context: ToolContext, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      throw this.calls.lose(context, "snapshots lost", error.message);
    }
  }
}

/** Returns whether a call starts a command that continues after the call. */
export function staysInBackground(input: unknown): boolean {
  return typeof input === "object" && input !== null && "background" in input && input.background === true;
}

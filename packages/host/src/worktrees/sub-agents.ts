import type { NamedAgent, Tool, ToolContext } from "@banyan/core";
import { type BringOptions, bringOver, type Workspace } from "@banyan/tools/workspace";
import { heldInWorktree, type Worktrees } from "./worktrees.ts";

/** Options of `launchInWorktrees`. */
export interface LaunchedApartOptions {
  readonly worktrees: Worktrees;
  readonly agents: readonly NamedAgent[];
  /** The tools that sub-agents may have. */
  tools(): readonly Tool[];
  /** Opens the folder of a branch. */
  open(folder: string): Workspace;
  readonly bring: BringOptions;
}

/**
 * Wraps the tool that launches sub-agents. If several are launched together, each sub-agent that can write works in its
 * own worktree (C7). Its changes are then merged into the files of the launching agent, as changes of the call.
 * Conflicts are marked in the file and reported. The worktree is removed after a full merge.
 */
export function launchInWorktrees(tool: Tool, options: LaunchedApartOptions): Tool {
  const { worktrees } = options;
  /** The last merge of each conversation: merges run one after the other. */
  const bringing = new Map<string, Promise<unknown>>();
  return {
    ...tool,
    async execute(input, context) {
      const name = await placeFor(input, context);
      if (name === undefined) return tool.execute(input, context);
      const launch: ToolContext["launch"] = (task) => context.launch({ ...task, worktree: name });
      let result: unknown;
      try {
        result = await tool.execute(input, { ...context, launch });
      } catch (error) {
        const held = heldInWorktree(
          await worktrees.changes(name, context.conversation.id).catch(() => ({ files: [], commits: 0 })),
        );
        if (held === undefined || !(error instanceof Error)) throw error;
        throw new Error(`${error.message} The worktree ${name} has ${held} of this sub-agent.`, { cause: error });
      }
      const { id } = context.conversation;
      const before = bringing.get(id) ?? Promise.resolve();
      const brought = before.then(() => takeOver(name, context));
      bringing.set(
        id,
        brought.catch(() => {}),
      );
      const outcome = await brought;
      return outcome === undefined ? result : `${result}\n\n${outcome}`;
    },
  };

  /** Undefined if the sub-agent works in its launcher's folder. */
  async function placeFor(input: unknown, { call, conversation, path }: ToolContext): Promise<string | undefined> {
    const [known] = conversation.children.get(call) ?? [];
    const first = known === undefined ? undefined : conversation.messages.get(known);
    if (first) return first.role === "user" ? first.worktree : undefined;
    const message = path.at(-1);
    const together = message?.role === "assistant" ? message.calls.filter((each) => each.tool === tool.name) : [];
    if (together.length < 2 || !mayWrite(input)) return undefined;
    // Without a repository, sub-agents share the files.
    const isThere = await worktrees.repository().then(
      () => true,
      () => false,
    );
    if (!isThere) return undefined;
    const [name] = await worktrees.make(conversation, message?.id ?? null, [
      `sub-agent-${together.findIndex(({ id }) => id === call) + 1}`,
    ]);
    return name;
  }

  function mayWrite(input: unknown): boolean {
    const { agent, tools: wanted } = input as { readonly agent?: string; readonly tools?: readonly string[] };
    const names = wanted ?? options.agents.find(({ name }) => name === agent)?.tools;
    const has = options.tools().filter(({ name }) => names === undefined || names.includes(name));
    return has.some(({ files, effects, control }) => !control && (files === "write" || effects === "external"));
  }

  async function takeOver(name: string, context: ToolContext): Promise<string | undefined> {
    const { conversation, path } = context;
    const { files } = await worktrees.changes(name, conversation.id);
    const { prefix } = await worktrees.repository();
    const inside = files.filter((file) => file.path.startsWith(prefix)).map((file) => file.path.slice(prefix.length));
    const folder = await worktrees.folderAt(conversation, path.at(-1)?.id);
    const wanted = { from: name, files: inside };
    const { report, isWhole } = await bringOver(options.open(folder), options.bring, wanted, {
      ...context,
      agreed: undefined,
    });
    if (isWhole && inside.length === files.length) {
      await worktrees.remove(name, { changes: true });
      return inside.length === 0 ? undefined : `The sub-agent's file changes are now in your files:\n${report}`;
    }
    return `The sub-agent's file changes in the worktree ${name}:\n${report}\nThe worktree remains.`;
  }
}

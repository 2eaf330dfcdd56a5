import type { Tool } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import { openWorkspace, whileSeen } from "@banyan/tools/workspace";

/**
 * The tools of servers: what a call of one changes in the workspace counts as seen by its branch (F78). Servers do not work in
 * worktrees, so nothing is looked at for a branch that has its own.
 */
export function noticingChanges(tools: readonly Tool[], folder: string): Tool[] {
  if (tools.length === 0) return [];
  const workspace = openWorkspace(folder);
  return tools.map((tool) => ({
    ...tool,
    execute: (input, context) =>
      worktreeAt(context.conversation, context.path.at(-1)?.id) === undefined
        ? whileSeen(workspace, context, async () => tool.execute(input, context))
        : tool.execute(input, context),
  }));
}

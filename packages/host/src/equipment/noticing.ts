import type { Tool } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import { openWorkspace, whileSeen } from "@banyan/tools/workspace";

/**
 * Wraps tools of servers, so that their changes in the workspace count as seen by the calling branch (F78). Servers do not
 * work in worktrees, so nothing is recorded for a branch with its own.
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

import { textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

export type WorktreesArguments =
  | { readonly action: "list"; readonly output: "text" | "json" }
  | { readonly action: "remove"; readonly name: string; readonly changes: boolean };

export const worktreesLine: CommandLine<WorktreesArguments> = {
  define: (command, read) => {
    command.description("List and remove the git worktrees of conversation branches in this repository.");
    command
      .command("list")
      .description("list the worktrees, with their changes")
      .addOption(textOrJson())
      .action((options) => read({ action: "list", ...options }));
    command
      .command("remove <name>")
      .description("remove a worktree and its git branch, unless the worktree has changes")
      .option("--changes", "remove the worktree even if it has changes", false)
      .action((name: string, options) => read({ action: "remove", name, ...options }));
  },
  complete: (argv) => (argv.length === 0 ? ["list"] : argv),
};

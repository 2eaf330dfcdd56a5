import { Command } from "commander";
import { parse, type Unread } from "../parse.ts";

/** What a line of `banyan worktrees` says. */
export type WorktreesArguments =
  | { readonly action: "list"; readonly output: "text" | "json" }
  | { readonly action: "remove"; readonly name: string; readonly changes: boolean };

/** Reads what follows `banyan worktrees`, or says why it cannot be read. */
export function readWorktrees(
  argv: readonly string[],
): { readonly type: "worktrees"; readonly arguments: WorktreesArguments } | Unread {
  let wanted: WorktreesArguments = { action: "list", output: "text" };
  const command = new Command("banyan worktrees")
    .description("The git worktrees that branches of conversations have for themselves in this repository.")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  command
    .command("list")
    .description("list them, with what each holds")
    .option("-o, --output <format>", "text or json", "text")
    .helpOption("-h, --help", "print this help")
    .action(({ output }: { readonly output: string }) => {
      wanted = { action: "list", output: output === "json" ? "json" : "text" };
    });
  command
    .command("remove <name>")
    .description("remove one and its branch of git; one that holds changes stays")
    .option("--changes", "with what it holds", false)
    .helpOption("-h, --help", "print this help")
    .action((name: string, { changes }: { readonly changes: boolean }) => {
      wanted = { action: "remove", name, changes };
    });
  return parse(command, argv.length === 0 ? ["list"] : argv) ?? { type: "worktrees", arguments: wanted };
}

import { Command } from "commander";
import { parse, type Unread } from "../parse.ts";

/** What a line of `banyan changes` says; what it leaves out is absent. */
export type ChangesArguments = {
  /** Which one; the last one of this directory when absent. */
  readonly conversation?: string;
  /** A message, by its id, or by `#` and its number: the branch on which it stands; all branches when absent. */
  readonly branch?: string;
} & (
  | { readonly action: "list" }
  /** `path`: of which file; of all when absent. */
  | { readonly action: "show"; readonly path?: string }
  | { readonly action: "revert"; readonly paths: readonly string[]; readonly all: boolean; readonly yes: boolean }
);

interface Which {
  readonly in?: string;
  readonly branch?: string;
}

/** Reads what follows `banyan changes`, or says why it cannot be read. */
export function readChanges(
  argv: readonly string[],
): { readonly type: "changes"; readonly arguments: ChangesArguments } | Unread {
  let wanted: ChangesArguments = { action: "list" };
  const command = new Command("banyan changes")
    .description("The files that a conversation changed. Without a name, the last conversation of this directory.")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  const sub = (usage: string, description: string) =>
    command
      .command(usage)
      .description(description)
      .option("-b, --branch <message>", "only the branch of a message, by its id or '#number'")
      .helpOption("-h, --help", "print this help");
  const which = ({ in: conversation, branch }: Which) => ({
    ...(conversation === undefined ? {} : { conversation }),
    ...(branch === undefined ? {} : { branch }),
  });
  const IN = "-i, --in <conversation>";

  sub("list [conversation]", "list them, with added and removed lines").action(
    (conversation: string | undefined, options: Which) => {
      wanted = {
        action: "list",
        ...which({ ...options, ...(conversation === undefined ? {} : { in: conversation }) }),
      };
    },
  );
  sub("show [path]", "print the changes as a unified diff")
    .option(IN, "of this conversation")
    .action((path: string | undefined, options: Which) => {
      wanted = { action: "show", ...which(options), ...(path === undefined ? {} : { path }) };
    });
  sub("revert [paths...]", "restore files; a file that was changed by something else since then stays")
    .option(IN, "of this conversation")
    .option("-a, --all", "all files", false)
    .option("-y, --yes", "without asking", false)
    .action((paths: readonly string[], { all, yes, ...options }: Which & { all: boolean; yes: boolean }) => {
      wanted = { action: "revert", paths, all, yes, ...which(options) };
    });
  const [first = ""] = argv;
  const isNamed = ["list", "show", "revert", "-h", "--help"].includes(first);
  return parse(command, isNamed ? argv : ["list", ...argv]) ?? { type: "changes", arguments: wanted };
}

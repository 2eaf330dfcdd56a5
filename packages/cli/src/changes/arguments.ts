import type { CommandLine } from "../program/parse.ts";

/** Options of `banyan changes`. An option that the user omitted is absent. */
export type ChangesArguments = {
  readonly conversation?: string;
  /** A message's id, or `#` and its number, to select its branch. Default: all branches. */
  readonly branch?: string;
} & (
  | { readonly action: "list" }
  | { readonly action: "show"; readonly path?: string }
  | { readonly action: "revert"; readonly paths: readonly string[]; readonly all: boolean; readonly yes: boolean }
);

interface ChangesFlags {
  readonly in?: string;
  readonly branch?: string;
}

export const changesLine: CommandLine<ChangesArguments> = {
  define: (command, read) => {
    command.description(
      "Show and restore the files that a conversation changed. Default: the last conversation of this directory.",
    );
    const sub = (usage: string, description: string) =>
      command
        .command(usage)
        .description(description)
        .option("-b, --branch <message>", "only the branch of a message, by its id or '#number'");
    const which = ({ in: conversation, branch }: ChangesFlags) => ({
      ...(conversation === undefined ? {} : { conversation }),
      ...(branch === undefined ? {} : { branch }),
    });
    const IN = "-i, --in <conversation>";

    sub("list [conversation]", "list the changed files, with added and removed lines").action(
      (conversation: string | undefined, options: ChangesFlags) =>
        read({ action: "list", ...which({ ...options, ...(conversation === undefined ? {} : { in: conversation }) }) }),
    );
    sub("show [path]", "print the changes as a unified diff")
      .option(IN, "the conversation (default: the last conversation of this directory)")
      .action((path: string | undefined, options: ChangesFlags) =>
        read({ action: "show", ...which(options), ...(path === undefined ? {} : { path }) }),
      );
    sub("revert [paths...]", "restore files; a file that was changed by something else since then stays")
      .option(IN, "the conversation (default: the last conversation of this directory)")
      .option("-a, --all", "all files", false)
      .option("-y, --yes", "do not ask for confirmation", false)
      .action((paths: readonly string[], { all, yes, ...options }: ChangesFlags & { all: boolean; yes: boolean }) =>
        read({ action: "revert", paths, all, yes, ...which(options) }),
      );
  },
  complete: (argv) => (["list", "show", "revert", "-h", "--help"].includes(argv[0] ?? "") ? argv : ["list", ...argv]),
};

import type { ForeignProgram } from "@banyan/host/exchange";
import { Option } from "commander";
import { atMost, textOrJson } from "../program/flag-values.ts";
import type { CommandLine } from "../program/parse.ts";

export type ConversationsArguments =
  | {
      readonly action: "list";
      readonly all: boolean;
      readonly waiting: boolean;
      readonly programs: boolean;
      readonly limit?: number;
      readonly output: "text" | "json";
    }
  | { readonly action: "show"; readonly conversation: string }
  | {
      readonly action: "search";
      readonly words: string;
      readonly here: boolean;
      readonly programs: boolean;
      readonly limit?: number;
      readonly output: "text" | "json";
    }
  | {
      readonly action: "export";
      readonly conversation: string;
      readonly format: "json" | "markdown" | "html";
      readonly file?: string;
    }
  | {
      readonly action: "import";
      /** The file or folder to import. Default: the sessions on this machine. */
      readonly path?: string;
      readonly from?: ForeignProgram;
      /**
       * Set to import all sessions of this directory (`here`), or all sessions (`all`), without asking the user to
       * choose.
       */
      readonly here: boolean;
      readonly all: boolean;
    }
  | { readonly action: "remove"; readonly conversation: string; readonly yes: boolean };

const PROGRAMS = ["claude-code", "codex", "pi", "opencode"] satisfies ForeignProgram[];

export const conversationsLine: CommandLine<ConversationsArguments> = {
  define: (command, read) => {
    command.description(
      "Manage the conversations on this machine. Name a conversation by its id, the start of its id, or its title.",
    );
    command
      .command("list")
      .description("list the conversations of this directory, newest first")
      .option("-a, --all", "list the conversations of all directories", false)
      .option("-w, --waiting", "only conversations with a question for you, in all directories", false)
      .option("--programs", "also conversations that programs began at /v1 of a server", false)
      .addOption(atMost())
      .addOption(textOrJson())
      .action((options) => read({ action: "list", ...options }));
    command
      .command("show <conversation>")
      .description("print the branch that was used last")
      .action((conversation: string) => read({ action: "show", conversation }));
    command
      .command("search <words...>")
      .description("find messages, in all conversations and branches")
      .option("--here", "only in conversations of this directory", false)
      .option("--programs", "also in conversations that programs began at /v1 of a server", false)
      .addOption(atMost())
      .addOption(textOrJson())
      .action((words: readonly string[], options) => read({ action: "search", words: words.join(" "), ...options }));
    command
      .command("export <conversation>")
      .description("write a conversation to standard output, or to a file")
      .addOption(
        new Option("-f, --format <format>", "json: the whole tree, for import; markdown, html: one branch, to read")
          .choices(["json", "markdown", "html"])
          .default("json"),
      )
      .option("-o, --output <file>", "the file to write; an existing file is not overwritten")
      .action((conversation: string, { format, output }) =>
        read({ action: "export", conversation, format, ...(output === undefined ? {} : { file: output }) }),
      );
    command
      .command("import [path]")
      .description(
        "import sessions of other programs: choose from the sessions on this machine, or name a file or folder",
      )
      .addOption(new Option("--from <program>", "only sessions of this program").choices(PROGRAMS))
      .option("--here", "all sessions of this directory", false)
      .option("-a, --all", "all sessions of this machine", false)
      .addHelpText("after", "\nA file may also be an exported conversation (JSON); - reads one from standard input.")
      .action((path: string | undefined, options) =>
        read({ action: "import", ...options, ...(path === undefined ? {} : { path }) }),
      );
    command
      .command("remove <conversation>")
      .description("remove a conversation for good")
      .option("-y, --yes", "do not ask for confirmation", false)
      .action((conversation: string, { yes }) => read({ action: "remove", conversation, yes }));
  },
  // Options without a command belong to the list.
  complete: (argv) => {
    const [first = "-"] = argv;
    return first.startsWith("-") && !["-h", "--help"].includes(first) ? ["list", ...argv] : argv;
  },
};

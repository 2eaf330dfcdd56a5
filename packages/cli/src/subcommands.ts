import { Command, Option } from "commander";
import { positiveInteger } from "./flag-values.ts";
import { parse, type Unread } from "./parse.ts";

/** A subcommand with what its line says; what the line leaves out is absent. */
export type Subcommand =
  | { readonly type: "models"; readonly arguments: ModelsArguments }
  | { readonly type: "conversations"; readonly arguments: ConversationsArguments };

export interface ModelsArguments {
  /** Whose models to list; the providers when absent. */
  readonly provider?: string;
  readonly output: "text" | "json";
}

export type ConversationsArguments =
  | { readonly action: "list"; readonly all: boolean; readonly limit?: number; readonly output: "text" | "json" }
  | { readonly action: "show"; readonly conversation: string }
  | {
      readonly action: "search";
      readonly words: string;
      readonly here: boolean;
      readonly limit?: number;
      readonly output: "text" | "json";
    }
  | {
      readonly action: "export";
      readonly conversation: string;
      readonly format: "json" | "markdown" | "html";
      /** Standard output when absent. */
      readonly file?: string;
    }
  | { readonly action: "import"; readonly file: string }
  | { readonly action: "remove"; readonly conversation: string; readonly yes: boolean };

/**
 * The subcommand of a command line, or why it cannot be read; nothing when the line is none. A subcommand stands first:
 * behind an option, or in quotes with more, its name is part of a message.
 */
export function subcommandIn([name, ...rest]: readonly string[]): Subcommand | Unread | undefined {
  if (name === "models") return readModels(rest);
  if (name === "conversations") return readConversations(rest);
  return undefined;
}

const OUTPUT = () => new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text");

function readModels(argv: readonly string[]): Subcommand | Unread {
  const command = new Command("banyan models")
    .description("What can be used here, and why not; with a provider, its models with their prices and context sizes.")
    .argument("[provider]", "as in the name of a model: anthropic, openai, ollama ...")
    .addOption(OUTPUT())
    .helpOption("-h, --help", "print this help");
  const unread = parse(command, argv);
  if (unread) return unread;
  const [provider] = command.args;
  const { output } = command.opts<{ output: "text" | "json" }>();
  return { type: "models", arguments: { output, ...(provider === undefined ? {} : { provider }) } };
}

function readConversations(argv: readonly string[]): Subcommand | Unread {
  let wanted: ConversationsArguments = { action: "list", all: false, output: "text" };
  const command = new Command("banyan conversations")
    .description(
      "The conversations on this machine. A conversation is named by its id, the beginning of it, or its title.",
    )
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  const sub = (usage: string, description: string) =>
    command.command(usage).description(description).helpOption("-h, --help", "print this help");
  const limit = () => new Option("-n, --limit <count>", "at most this many").argParser(positiveInteger);

  sub("list", "those of this directory, the last written first")
    .option("-a, --all", "those of all directories", false)
    .addOption(limit())
    .addOption(OUTPUT())
    .action((options) => {
      wanted = { action: "list", ...options };
    });
  sub("show <conversation>", "print the branch that was written to last").action((conversation: string) => {
    wanted = { action: "show", conversation };
  });
  sub("search <words...>", "find messages, in all conversations and branches")
    .option("--here", "only in conversations of this directory", false)
    .addOption(limit())
    .addOption(OUTPUT())
    .action((words: readonly string[], options) => {
      wanted = { action: "search", words: words.join(" "), ...options };
    });
  sub("export <conversation>", "write a conversation to standard output, or to a file")
    .addOption(
      new Option("-f, --format <format>", "json: the tree, to be imported again; markdown, html: the branch to read")
        .choices(["json", "markdown", "html"])
        .default("json"),
    )
    .option("-o, --output <file>", "the file; one that is there is not overwritten")
    .action((conversation: string, { format, output }) => {
      wanted = { action: "export", conversation, format, ...(output === undefined ? {} : { file: output }) };
    });
  sub("import <file>", "make a conversation of an exported one (JSON); - reads standard input").action(
    (file: string) => {
      wanted = { action: "import", file };
    },
  );
  sub("remove <conversation>", "remove a conversation for good")
    .option("-y, --yes", "without asking", false)
    .action((conversation: string, { yes }) => {
      wanted = { action: "remove", conversation, yes };
    });
  return parse(command, argv.length === 0 ? ["list"] : argv) ?? { type: "conversations", arguments: wanted };
}

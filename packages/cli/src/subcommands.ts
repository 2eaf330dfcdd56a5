import type { ForeignProgram } from "@banyan/host/exchange";
import { Command, Option } from "commander";
import { type AcpArguments, readAcp } from "./acp/arguments.ts";
import { type AttachArguments, readAttach } from "./attach/arguments.ts";
import { type ChangesArguments, readChanges } from "./changes/arguments.ts";
import { type EvalArguments, readEval } from "./eval/arguments.ts";
import { positiveInteger } from "./flag-values.ts";
import { type McpArguments, readMcp } from "./mcp/arguments.ts";
import { type MemoryArguments, readMemory } from "./memory/arguments.ts";
import { type NodesArguments, readNodes } from "./nodes/arguments.ts";
import { parse, type UnperformedLine } from "./parse.ts";
import { readServe, type ServeArguments } from "./serve/arguments.ts";

/** A subcommand with its arguments; omitted options are absent. */
export type Subcommand =
  | { readonly type: "models"; readonly arguments: ModelsArguments }
  | { readonly type: "conversations"; readonly arguments: ConversationsArguments }
  | { readonly type: "config"; readonly arguments: ConfigArguments }
  | { readonly type: "mcp"; readonly arguments: McpArguments }
  | { readonly type: "changes"; readonly arguments: ChangesArguments }
  | { readonly type: "worktrees"; readonly arguments: WorktreesArguments }
  | { readonly type: "memory"; readonly arguments: MemoryArguments }
  | { readonly type: "serve"; readonly arguments: ServeArguments }
  | { readonly type: "attach"; readonly arguments: AttachArguments }
  | { readonly type: "acp"; readonly arguments: AcpArguments }
  | { readonly type: "nodes"; readonly arguments: NodesArguments }
  | { readonly type: "eval"; readonly arguments: EvalArguments };

export interface ModelsArguments {
  /** List this provider's models. Default: list the providers. */
  readonly provider?: string;
  readonly output: "text" | "json";
}

export type ConversationsArguments =
  | {
      readonly action: "list";
      readonly all: boolean;
      readonly waiting: boolean;
      /** Include conversations that programs began. */
      readonly programs: boolean;
      readonly limit?: number;
      readonly output: "text" | "json";
    }
  | { readonly action: "show"; readonly conversation: string }
  | {
      readonly action: "search";
      readonly words: string;
      readonly here: boolean;
      /** Include conversations that programs began. */
      readonly programs: boolean;
      readonly limit?: number;
      readonly output: "text" | "json";
    }
  | {
      readonly action: "export";
      readonly conversation: string;
      readonly format: "json" | "markdown" | "html";
      /** Default: standard output. */
      readonly file?: string;
    }
  | {
      readonly action: "import";
      /** A file or a folder. Default: the sessions on this machine. */
      readonly path?: string;
      readonly from?: ForeignProgram;
      /** Import all sessions of this directory (`here`), or all sessions (`all`), without a choice. */
      readonly here: boolean;
      readonly all: boolean;
    }
  | { readonly action: "remove"; readonly conversation: string; readonly yes: boolean };

export type WorktreesArguments =
  | { readonly action: "list"; readonly output: "text" | "json" }
  | { readonly action: "remove"; readonly name: string; readonly changes: boolean };

const PROGRAMS = ["claude-code", "codex", "pi", "opencode"] satisfies ForeignProgram[];

/** `project`: use the project's file instead of the user's. */
export type ConfigArguments =
  | { readonly action: "get"; readonly key?: string; readonly output: "text" | "json" }
  | { readonly action: "set"; readonly key: string; readonly value: string; readonly project: boolean }
  | { readonly action: "unset"; readonly key: string; readonly project: boolean }
  | { readonly action: "path" }
  | { readonly action: "check" };

/**
 * The subcommand of a command line, or what is wrong with it; undefined without a subcommand. A subcommand comes
 * first: after an option, or quoted with more words, its name is part of a message.
 */
export function subcommandIn([name = "", ...rest]: readonly string[]): Subcommand | UnperformedLine | undefined {
  return Object.hasOwn(READERS, name) ? READERS[name as keyof typeof READERS](rest) : undefined;
}

const READERS = {
  models: readModels,
  conversations: readConversations,
  config: readConfig,
  mcp: readMcp,
  changes: readChanges,
  worktrees: readWorktrees,
  memory: readMemory,
  serve: readServe,
  attach: readAttach,
  acp: readAcp,
  nodes: readNodes,
  eval: readEval,
} satisfies Readonly<Record<string, (argv: readonly string[]) => Subcommand | UnperformedLine>>;

/** First words of a command line that are not a message. */
export const COMMANDS: readonly string[] = ["run", ...Object.keys(READERS)];

/** Returns whether a line may be a misspelt command: it begins with an unknown word, and does not continue like a sentence. */
export function isPerhapsMisspelt([name = "", second]: readonly string[]): boolean {
  return /^[a-z]+$/.test(name) && !COMMANDS.includes(name) && (second === undefined || /^-|\s/.test(second));
}

const OUTPUT = () => new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text");

function readModels(argv: readonly string[]): Subcommand | UnperformedLine {
  const command = new Command("banyan models")
    .description(
      "Providers that work here, and what others need. With a provider, its models, prices and context sizes.",
    )
    .argument("[provider]", "such as anthropic, openai or ollama")
    .addOption(OUTPUT())
    .helpOption("-h, --help", "print this help");
  const unread = parse(command, argv);
  if (unread) return unread;
  const [provider] = command.args;
  const { output } = command.opts<{ output: "text" | "json" }>();
  return { type: "models", arguments: { output, ...(provider === undefined ? {} : { provider }) } };
}

function readConversations(argv: readonly string[]): Subcommand | UnperformedLine {
  let wanted: ConversationsArguments = {
    action: "list",
    all: false,
    waiting: false,
    programs: false,
    output: "text",
  };
  const command = new Command("banyan conversations")
    .description("Conversations on this machine. Name one by its id, the start of its id, or its title.")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  const sub = (usage: string, description: string) =>
    command.command(usage).description(description).helpOption("-h, --help", "print this help");
  const limit = () => new Option("-n, --limit <count>", "at most this many").argParser(positiveInteger);

  sub("list", "list those of this directory, newest first")
    .option("-a, --all", "those of all directories", false)
    .option("-w, --waiting", "only those with a question for you, in all directories", false)
    .option("--programs", "also those that programs started at /v1 of a server", false)
    .addOption(limit())
    .addOption(OUTPUT())
    .action((options) => {
      wanted = { action: "list", ...options };
    });
  sub("show <conversation>", "print the branch that was used last").action((conversation: string) => {
    wanted = { action: "show", conversation };
  });
  sub("search <words...>", "find messages, in all conversations and branches")
    .option("--here", "only in conversations of this directory", false)
    .option("--programs", "also in those that programs began at /v1 of a server", false)
    .addOption(limit())
    .addOption(OUTPUT())
    .action((words: readonly string[], options) => {
      wanted = { action: "search", words: words.join(" "), ...options };
    });
  sub("export <conversation>", "write a conversation to standard output, or to a file")
    .addOption(
      new Option("-f, --format <format>", "json: the whole tree, for import; markdown, html: one branch, to read")
        .choices(["json", "markdown", "html"])
        .default("json"),
    )
    .option("-o, --output <file>", "the file to write; an existing file is not overwritten")
    .action((conversation: string, { format, output }) => {
      wanted = { action: "export", conversation, format, ...(output === undefined ? {} : { file: output }) };
    });
  sub("import [path]", "import sessions of other programs: choose from those on this machine, or name a file or folder")
    .addOption(new Option("--from <program>", "only those of this program").choices(PROGRAMS))
    .option("--here", "all of this directory", false)
    .option("-a, --all", "all of this machine", false)
    .addHelpText("after", "\nA file may also be an exported conversation (JSON); - reads one from standard input.")
    .action((path: string | undefined, options) => {
      wanted = { action: "import", ...options, ...(path === undefined ? {} : { path }) };
    });
  sub("remove <conversation>", "remove a conversation for good")
    .option("-y, --yes", "without asking", false)
    .action((conversation: string, { yes }) => {
      wanted = { action: "remove", conversation, yes };
    });
  // Options without a command belong to the list.
  const [first = "-"] = argv;
  const isList = first.startsWith("-") && !["-h", "--help"].includes(first);
  return parse(command, isList ? ["list", ...argv] : argv) ?? { type: "conversations", arguments: wanted };
}

function readConfig(argv: readonly string[]): Subcommand | UnperformedLine {
  let wanted: ConfigArguments = { action: "path" };
  const command = new Command("banyan config")
    .description("Settings, listed in docs/configuration.md. Write a nested setting with dots, such as limits.steps.")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  const sub = (usage: string, description: string) =>
    command.command(usage).description(description).helpOption("-h, --help", "print this help");
  const project = () => new Option("-p, --project", "use the project's file instead of yours").default(false);

  sub("get [key]", "show a setting and where it comes from; without a key, all settings")
    .addOption(OUTPUT())
    .action((key: string | undefined, { output }) => {
      wanted = { action: "get", output, ...(key === undefined ? {} : { key }) };
    });
  sub("set <key> <value>", "change a setting to a text or to JSON")
    .addOption(project())
    .action((key: string, value: string, options) => {
      wanted = { action: "set", key, value, ...options };
    });
  sub("unset <key>", "remove a setting")
    .addOption(project())
    .action((key: string, options) => {
      wanted = { action: "unset", key, ...options };
    });
  sub("path", "show where the files are").action(() => {
    wanted = { action: "path" };
  });
  sub("check", "list problems with file and line; exits with 2 if there are any").action(() => {
    wanted = { action: "check" };
  });
  return parse(command, argv.length === 0 ? ["get"] : argv) ?? { type: "config", arguments: wanted };
}

function readWorktrees(argv: readonly string[]): Subcommand | UnperformedLine {
  let wanted: WorktreesArguments = { action: "list", output: "text" };
  const command = new Command("banyan worktrees")
    .description("The git worktrees of conversation branches in this repository.")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false);
  const sub = (usage: string, description: string) =>
    command.command(usage).description(description).helpOption("-h, --help", "print this help");

  sub("list", "list them, with the changes that each holds")
    .addOption(OUTPUT())
    .action((options) => {
      wanted = { action: "list", ...options };
    });
  sub("remove <name>", "remove one and its git branch, unless it holds changes")
    .option("--changes", "with the changes that it holds", false)
    .action((name: string, options) => {
      wanted = { action: "remove", name, ...options };
    });
  return parse(command, argv.length === 0 ? ["list"] : argv) ?? { type: "worktrees", arguments: wanted };
}

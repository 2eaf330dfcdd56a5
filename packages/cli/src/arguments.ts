import type { Limits } from "@banyan/core";
import type { ApprovalMode } from "@banyan/host";
import { type LimitName, limits } from "@banyan/host/limits";
import { Command, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import { withRuleFlags } from "./agent-flags.ts";
import { dollars, duration, numberBetween, positiveInteger, wholeNumber } from "./flag-values.ts";
import { NO_WORDS } from "./no-words.ts";
import { parse } from "./parse.ts";
import { COMMANDS, type Subcommand, subcommandIn } from "./subcommands.ts";

export { isPerhapsMisspelt } from "./subcommands.ts";

export type OutputFormat = "text" | "json" | "jsonl";
export type ColorChoice = "auto" | "always" | "never";

/** Arguments of a chat, a task or a printed turn; omitted options are absent. */
export interface Arguments {
  /** Print one answer without a user, also on a terminal. */
  readonly print: boolean;
  readonly prompt?: string;
  readonly model?: string;
  /** Send the first message as a task. `once`: exit after it. `first`: continue as a chat. */
  readonly task?: "once" | "first";
  /** Path of a JSON Schema for the result of a task. */
  readonly outputSchema?: string;
  /** Continue the last conversation of the directory. */
  readonly continue: boolean;
  /** Continue this conversation: its id, the start of its id, or its title. `true`: the user chooses. */
  readonly resume?: string | true;
  /** A message's id, or `#` and its number: continue at the end of its branch. */
  readonly at?: string;
  /** The workspace, if it is not the current directory. */
  readonly cwd?: string;
  readonly output: OutputFormat;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Limits of a turn. */
  readonly limits: Limits;
  /** Maximum silence of the model, in milliseconds. */
  readonly silence?: number;
  /** Time for retries of a failed model call, in milliseconds. */
  readonly retryTime?: number;
  /** Maximum model calls for one answer. */
  readonly attempts?: number;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  readonly unconfined?: boolean;
  readonly memory?: boolean;
  /** Instructions for the agent: a text, or `@` and a file. */
  readonly instructions?: string;
  /** Use the project's settings, servers and instructions without a question. */
  readonly trust: boolean;
  readonly color: ColorChoice;
  readonly plain: boolean;
  /** With --print: write only problems to stderr. */
  readonly quiet: boolean;
}

/** Result of parsing a command line. */
export type ParsedCommandLine =
  | { readonly type: "run"; readonly arguments: Arguments }
  | Subcommand
  /** Text to print on stdout, without further action. */
  | { readonly type: "text"; readonly text: string }
  /** A sentence, perhaps with a suggestion on a second line. */
  | { readonly type: "mistake"; readonly message: string; readonly output: OutputFormat };

const MORE = `
Commands (the command comes first; banyan COMMAND --help explains it):
  banyan run TASK                           work on a task by itself until it is finished
  banyan serve                              serve conversations to browsers and other programs
  banyan attach [address]                   join a conversation on a server
  banyan acp                                serve an editor over the Agent Client Protocol
  banyan eval FILE                          test agents on cases, and see what passes and what it costs
  banyan nodes                              list the servers that share a database
  banyan models [provider]                  list the models that work here, and what they cost
  banyan changes [conversation]             show the files that it changed, and restore them
  banyan worktrees                          the git worktrees of branches: list, remove
  banyan memory                             memories: list, search, add, remove, clear
  banyan conversations                      list, show, search, export, import, remove
  banyan mcp                                list, add, remove, test and sign in to MCP servers
  banyan config                             read, change and check settings

Examples:
  banyan                                    chat in this directory
  banyan "what is in this project?"         the same, with a first message
  banyan -p "write a haiku" > haiku.txt     one answer, and nothing else, on stdout
  git diff | banyan -p "review this"        standard input is context
  banyan --continue                         continue the last conversation here

Exit codes of --print, run and --task:
  0 done · 1 error, or no answer · 2 usage · 3 limit, or an answer cut off by one
  4 permission denied · 5 authentication
  130 interrupted · 141 pipe closed`;

/** Parses a command line without the program's name. Has no effects. */
export function readArguments(argv: readonly string[]): ParsedCommandLine {
  const [first, second] = argv;
  if (first === "version" && second === undefined) return readArguments(["--version"]);
  if (first === "help" && (second === undefined || COMMANDS.includes(second)))
    return readArguments([...argv.slice(1), "--help"]);
  const subcommand = subcommandIn(argv);
  if (subcommand) return subcommand.type === "mistake" ? { ...subcommand, output: "text" } : subcommand;
  const isRun = argv[0] === "run";
  const command = isRun
    ? define("banyan run", "Work on a task by itself until it is finished.", "the task")
    : define("banyan", "Chat with an agent that works in this directory.", "the first message");
  const problem = parse(command, isRun ? argv.slice(1) : argv);
  if (problem) return problem.type === "mistake" ? { ...problem, output: outputIn(argv) } : problem;
  const { print = isRun, task, chatMode, ...options } = command.opts<ParsedFlags>();
  const words = [task, print, ...command.args].filter((word) => typeof word === "string");
  const isTask = isRun || task !== undefined || chatMode === false;
  if (options.outputSchema !== undefined && !isTask)
    return mistake("--output-schema describes the result of a task. Use it with --task or banyan run.", argv);
  const given = {
    ...(words.length > 0 ? { prompt: words.join(" ") } : {}),
    ...(isTask ? { task: chatMode ? ("first" as const) : ("once" as const) } : {}),
  };
  return {
    type: "run",
    arguments: { ...NO_WORDS, ...options, ...given, limits: limitsIn(command.opts()), print: print !== false },
  };
}

/** Options as the parser returns them. */
interface ParsedFlags extends Omit<Arguments, "print" | "task" | "limits"> {
  readonly print?: string | boolean;
  readonly task?: string;
  readonly chatMode?: boolean;
}

function mistake(message: string, argv: readonly string[]): ParsedCommandLine {
  return { type: "mistake", message, output: outputIn(argv) };
}

function define(name: string, description: string, words: string): Command {
  const command = new Command(name)
    .description(description)
    .argument("[prompt...]", words)
    .option("-p, --print [prompt]", "print one answer and exit; never asks")
    .option("--task <text>", "work on this task until it is finished, then exit")
    .option("--chat-mode", "with --task: stay in the chat when it is finished")
    .option("--no-chat-mode", "treat the first message as a task, as with --task")
    .option("--output-schema <file>", "with a task: the JSON Schema of its result, which is an object")
    .option("-m, --model <name>", "the model, as provider/model")
    .addOption(new Option("-c, --continue", "continue the last conversation of this directory").conflicts("resume"))
    .option("-r, --resume [name]", "continue a conversation by id or title; without a name, choose from a list")
    .option("--at <message>", "with --continue or --resume: continue the branch of this message (its id or '#number')")
    .option("-C, --cwd <directory>", "work in this directory")
    .addOption(
      new Option("-o, --output <format>", "output format of --print (default: text)").choices([
        "text",
        "json",
        "jsonl",
      ]),
    )
    .option("--temperature <number>", "sampling temperature of the model, from 0 to 2", numberBetween(0, 2))
    .option("--max-tokens <number>", "most tokens in one answer", positiveInteger);
  for (const { option } of limitOptions()) command.addOption(option);
  command
    .option("--silence <time>", "give up on a model after this time without a sign of life (default: 120s)", duration)
    .option("--retry-time <time>", "how long to retry a model that fails (default: 5m)", duration)
    .option(
      "--attempts <number>",
      "most model calls for one answer (default: as many as fit in that time)",
      positiveInteger,
    );
  return withRuleFlags(command, "this project; in a chat, from now on")
    .option("--memory", "use memory of other conversations here, also with --print")
    .option("--instructions <text>", "instructions for the agent, or @FILE to read them from a file")
    .addOption(new Option("--color <when>", "when to use colours (default: auto)").choices(["auto", "always", "never"]))
    .option("-q, --quiet", "with --print: only problems on stderr")
    .option("--plain", "plain lines: nothing is redrawn, choices have numbers")
    .version(manifest.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", MORE);
}

/** Parsers of limits by their unit; times are in milliseconds. */
const UNITS = { count: positiveInteger, dollars, seconds: duration, levels: wholeNumber(0) } as const;

/** Options that set limits. The old name of a renamed option comes first, and is hidden. */
function limitOptions(): { readonly name: LimitName; readonly option: Option }[] {
  return limits.flatMap(([name, { unit, flag }]) => {
    if (!flag) return [];
    const optionOf = (written: string) => new Option(written, flag.sentence).argParser(UNITS[unit]);
    const now = { name, option: optionOf(flag.option) };
    return flag.before === undefined ? [now] : [{ name, option: optionOf(flag.before).hideHelp() }, now];
  });
}

/** Limits that the command line sets. */
function limitsIn(options: Readonly<Record<string, unknown>>): Limits {
  const given = limitOptions().map(({ name, option }) => [name, options[option.attributeName()]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** Output format of a command line with errors: a script that asked for JSON gets JSON. */
function outputIn(argv: readonly string[]): OutputFormat {
  const joined = argv.join("\0");
  const [, format] = /(?:^|\0)(?:--output|-o)(?:\0|=)?(jsonl?)(?:\0|$)/.exec(joined) ?? [];
  return format === "json" || format === "jsonl" ? format : "text";
}

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

/** What the command line says; what it leaves out is absent. */
export interface Arguments {
  /** One answer without a person, whatever stdin and stdout are. */
  readonly print: boolean;
  readonly prompt?: string;
  readonly model?: string;
  /** What is said first is a task, in task mode. `once`: that is all; `first`: then the person talks on. */
  readonly task?: "once" | "first";
  /** A file with the JSON Schema that the result of a task must fit. */
  readonly outputSchema?: string;
  /** Go on with the last conversation of the directory. */
  readonly continue: boolean;
  /** Go on with this conversation: its id, the beginning of it, or its title; `true`: with one that the person chooses. */
  readonly resume?: string | true;
  /** A message, by its id, or by `#` and its number: go on at the end of its branch. */
  readonly at?: string;
  /** The workspace, when it is not where the command was started. */
  readonly cwd?: string;
  readonly output: OutputFormat;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Limits of a turn. */
  readonly limits: Limits;
  /** Milliseconds without a sign of life of the model. */
  readonly silence?: number;
  /** Milliseconds for which a model that fails is asked again. */
  readonly retryTime?: number;
  /** Model calls for one answer. */
  readonly attempts?: number;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  readonly unconfined?: boolean;
  readonly memory?: boolean;
  /** What the agent is to know: a text, or `@` and a file. */
  readonly instructions?: string;
  /** Use what the project brings, without asking. */
  readonly trust: boolean;
  readonly color: ColorChoice;
  readonly plain: boolean;
  /** With --print: only problems on stderr. */
  readonly quiet: boolean;
}

/** What a command line asks for. */
export type Wanted =
  | { readonly type: "run"; readonly arguments: Arguments }
  | Subcommand
  /** To be written to stdout; nothing else is to be done. */
  | { readonly type: "text"; readonly text: string }
  /** One sentence, perhaps with a second line that suggests something. */
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

/** Reads a command line, without the program's own name. Reads nothing else and has no effect. */
export function readArguments(argv: readonly string[]): Wanted {
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
  const { print = isRun, task, chatMode, ...options } = command.opts<Given>();
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

/** What the parser makes of a line. */
interface Given extends Omit<Arguments, "print" | "task" | "limits"> {
  readonly print?: string | boolean;
  readonly task?: string;
  readonly chatMode?: boolean;
}

function mistake(message: string, argv: readonly string[]): Wanted {
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

/** How values of a limit are written on the command line; a time comes out in milliseconds. */
const UNITS = { count: positiveInteger, dollars, seconds: duration, levels: wholeNumber(0) } as const;

/** The options that set limits; one that has another name now comes first, and is not shown. */
function limitOptions(): { readonly name: LimitName; readonly option: Option }[] {
  return limits.flatMap(([name, { unit, flag }]) => {
    if (!flag) return [];
    const optionOf = (written: string) => new Option(written, flag.sentence).argParser(UNITS[unit]);
    const now = { name, option: optionOf(flag.option) };
    return flag.before === undefined ? [now] : [{ name, option: optionOf(flag.before).hideHelp() }, now];
  });
}

/** What a command line sets of limits. */
function limitsIn(options: Readonly<Record<string, unknown>>): Limits {
  const given = limitOptions().map(({ name, option }) => [name, options[option.attributeName()]] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** The output format of a command line that could not be read: a script that asked for JSON gets its result as JSON. */
function outputIn(argv: readonly string[]): OutputFormat {
  const joined = argv.join("\0");
  const [, format] = /(?:^|\0)(?:--output|-o)(?:\0|=)?(jsonl?)(?:\0|$)/.exec(joined) ?? [];
  return format === "json" || format === "jsonl" ? format : "text";
}

import { numberSettings } from "@banyan/host/number-settings";
import { type Command, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import { withRuleFlags } from "./program/agent-flags.ts";
import { dollars, numberBetween, parseDurationFlag, positiveInteger, wholeNumber } from "./program/flag-values.ts";
import { type CommandLine, parseCommandLine } from "./program/parse.ts";
import { type Arguments, NO_WORDS, type OutputFormat } from "./program/prompt-arguments.ts";
import { COMMANDS, subcommandIn, type WantedSubcommand } from "./subcommands.ts";

export { COMMANDS, carryOut, isPerhapsMisspelt } from "./subcommands.ts";

export type ParsedCommandLine =
  | { readonly type: "run"; readonly arguments: Arguments }
  | WantedSubcommand
  | { readonly type: "text"; readonly text: string }
  /** A sentence, perhaps with a suggestion on a second line. */
  | { readonly type: "mistake"; readonly message: string; readonly output: OutputFormat };

const MORE = `
Commands (the command comes first; banyan COMMAND --help explains it):
  banyan run TASK                           let the agent work on a task by itself
  banyan serve                              serve conversations to browsers and other programs
  banyan attach [address]                   join a conversation on a server
  banyan acp                                serve an editor over the Agent Client Protocol
  banyan eval FILE                          test agents on cases, and see what passes and what it costs
  banyan nodes                              list the servers that share a database
  banyan models [provider]                  list the models that work on this machine, with prices
  banyan changes [conversation]             show and restore the files that a conversation changed
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

/** Parses the words after the program's name on a command line. Has no side effects. */
export function readArguments(argv: readonly string[]): ParsedCommandLine {
  const [first, second] = argv;
  if (first === "version" && second === undefined) return readArguments(["--version"]);
  if (first === "help" && (second === undefined || COMMANDS.includes(second)))
    return readArguments([...argv.slice(1), "--help"]);
  const subcommand = subcommandIn(argv);
  if (subcommand) return subcommand.type === "mistake" ? { ...subcommand, output: "text" } : subcommand;
  const isRun = first === "run";
  const found = parseCommandLine(isRun ? "banyan run" : "banyan", mainCommandLine(isRun), isRun ? argv.slice(1) : argv);
  if (found.type === "mistake") return { ...found, output: outputIn(argv) };
  return found.type === "read" ? { type: "run", arguments: found.arguments } : found;
}

function mainCommandLine(isRun: boolean): CommandLine<Arguments> {
  return {
    define: (command, read) =>
      withPromptOptions(
        isRun
          ? command
              .description("Let the agent work on a task by itself until the task is finished.")
              .argument("[prompt...]", "the task")
          : command
              .description("Chat with an agent that works in this directory.")
              .argument("[prompt...]", "the first message"),
      ).action((prompt: readonly string[], { print = isRun, task, chatMode, ...options }: ParsedFlags) => {
        const words = [task, print, ...prompt].filter((word) => typeof word === "string");
        const isTask = isRun || task !== undefined || chatMode === false;
        if (options.outputSchema !== undefined && !isTask)
          command.error("--output-schema describes the result of a task. Use it with --task or banyan run.");
        if (options.until?.some((command) => command.trim() === ""))
          command.error('--until needs a command, as in banyan run --until "npm test" "mend the parser".');
        if (options.until && (!isTask || print === false))
          command.error('--until belongs to a task without a user: banyan run --until "npm test" "mend the parser".');
        read({
          ...NO_WORDS,
          ...options,
          ...(words.length > 0 ? { prompt: words.join(" ") } : {}),
          ...(isTask ? { task: chatMode ? "first" : "once" } : {}),
          numbers: numbersIn(command.opts()),
          print: print !== false,
        });
      }),
  };
}

interface ParsedFlags extends Omit<Arguments, "print" | "task" | "numbers"> {
  readonly print?: string | boolean;
  readonly task?: string;
  readonly chatMode?: boolean;
}

function withPromptOptions(command: Command): Command {
  command
    .option("-p, --print [prompt]", "print one answer and exit; never asks")
    .option("--task <text>", "work on this task until it is finished, then exit (with --chat-mode: stay in the chat)")
    .addOption(new Option("--chat-mode").hideHelp())
    // Another spelling of --task, for the first message.
    .addOption(new Option("--no-chat-mode").hideHelp())
    .option("--output-schema <file>", "with a task: the JSON Schema of its result, which is an object")
    .addOption(
      new Option("--until <command>", "with run: done only when this command succeeds (repeatable)").argParser(
        (command: string, before: readonly string[] = []) => [...before, command],
      ),
    )
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
    );
  for (const { option } of numberOptions()) command.addOption(option);
  return withRuleFlags(command, "this project; in a chat, from now on")
    .option("--memory", "use memory of other conversations here, also with --print")
    .option("--instructions <text>", "instructions for the agent, or @FILE to read them from a file")
    .addOption(new Option("--color <when>", "when to use colours (default: auto)").choices(["auto", "always", "never"]))
    .option("-q, --quiet", "with --print: only problems on stderr")
    .option("--plain", "plain lines: nothing is redrawn, choices have numbers")
    .version(manifest.version, "-V, --version", "print the version")
    .addHelpText("after", MORE);
}

/** Parsers of numbers by their unit. Settings have times in seconds. */
const UNITS = {
  count: positiveInteger,
  dollars,
  seconds: (text: string) => parseDurationFlag(text) / 1_000,
  levels: wholeNumber(0),
  temperature: numberBetween(0, 2),
  probability: numberBetween(0, 1),
  seed: wholeNumber(0),
} as const;

/** Options that set numbers. The old name of a renamed option comes first, and is hidden. */
function numberOptions(): { readonly setting: string; readonly option: Option }[] {
  return Object.entries(numberSettings).flatMap(([setting, { unit, flag }]) => {
    if (!flag) return [];
    const optionOf = (written: string) => new Option(written, flag.sentence).argParser(UNITS[unit]);
    const now = { setting, option: optionOf(flag.option) };
    return flag.before === undefined ? [now] : [{ setting, option: optionOf(flag.before).hideHelp() }, now];
  });
}

function numbersIn(options: Readonly<Record<string, unknown>>): Arguments["numbers"] {
  const numbers: Record<string, unknown> = {};
  for (const { setting, option } of numberOptions()) {
    const value = options[option.attributeName()];
    if (value === undefined) continue;
    const [name = "", inner] = setting.split(".");
    numbers[name] = inner === undefined ? value : { ...(numbers[name] as object | undefined), [inner]: value };
  }
  return numbers;
}

/** Returns the output format of an invalid command line: a script that requested JSON gets the error as JSON. */
function outputIn(argv: readonly string[]): OutputFormat {
  const joined = argv.join("\0");
  const [, format] = /(?:^|\0)(?:--output|-o)(?:\0|=)?(jsonl?)(?:\0|$)/.exec(joined) ?? [];
  return format === "json" || format === "jsonl" ? format : "text";
}

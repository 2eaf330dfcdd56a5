import type { ApprovalMode } from "@banyan/host";
import { Command, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import { dollars, duration, numberBetween, positiveInteger } from "./flag-values.ts";
import { parse } from "./parse.ts";
import { type Subcommand, subcommandIn } from "./subcommands.ts";

export type OutputFormat = "text" | "json" | "jsonl";
export type ColorChoice = "auto" | "always" | "never";

/** What the command line says; what it leaves out is absent. */
export interface Arguments {
  /** One answer without a person, whatever stdin and stdout are. */
  readonly print: boolean;
  readonly prompt?: string;
  readonly model?: string;
  /** Go on with the last conversation of the directory. */
  readonly continue: boolean;
  /** Go on with this conversation: its id, the beginning of it, or its title. */
  readonly resume?: string;
  /** A message, by its id, or by `#` and its number: go on at the end of its branch. */
  readonly at?: string;
  /** The workspace, when it is not where the command was started. */
  readonly cwd?: string;
  readonly output: OutputFormat;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Model calls of a turn. */
  readonly maxTurns?: number;
  /** US dollars for a turn. */
  readonly maxCost?: number;
  /** Milliseconds for a turn. */
  readonly timeout?: number;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly rules?: string;
  readonly approval?: ApprovalMode;
  readonly color: ColorChoice;
  readonly plain: boolean;
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
Commands, which stand first; banyan COMMAND --help tells more:
  banyan models [provider]                  what can be used here and why not, and what it costs
  banyan conversations                      list, show, search, export, import and remove conversations

Examples:
  banyan                                    talk in this directory
  banyan "what is in this project?"         the same, with a first message
  banyan -p "write a haiku" > haiku.txt     one answer, and nothing else, on stdout
  git diff | banyan -p "review this"        standard input is context
  banyan --continue                         go on with the last conversation here

Exit codes of --print:
  0 done · 1 error · 2 usage · 3 limit · 4 permission denied · 5 authentication · 130 interrupted · 141 pipe closed`;

/** Reads a command line, without the program's own name. Reads nothing else and has no effect. */
export function readArguments(argv: readonly string[]): Wanted {
  const subcommand = subcommandIn(argv);
  if (subcommand) return subcommand.type === "mistake" ? { ...subcommand, output: "text" } : subcommand;
  const command = define();
  const problem = parse(command, argv);
  if (problem) return problem.type === "mistake" ? { ...problem, output: outputIn(argv) } : problem;
  const { print = false, ...options } = command.opts<Omit<Arguments, "print"> & { print?: string | true }>();
  const words = [print, ...command.args].filter((word) => typeof word === "string");
  const prompt = words.length > 0 ? { prompt: words.join(" ") } : {};
  return { type: "run", arguments: { ...DEFAULTS, ...options, ...prompt, print: print !== false } };
}

const DEFAULTS = { continue: false, output: "text", allow: [], deny: [], color: "auto", plain: false } as const;

function define(): Command {
  return new Command("banyan")
    .description("Talk with an agent that works in this directory.")
    .argument("[prompt...]", "the first message")
    .option("-p, --print [prompt]", "answer once on stdout and exit; asks nothing")
    .option("-m, --model <name>", "the model, as provider/model")
    .addOption(new Option("-c, --continue", "go on with the last conversation of this directory").conflicts("resume"))
    .option("-r, --resume <id>", "go on with a conversation, by id, beginning of an id, or title")
    .option("--at <message>", "with one of these: go on at the end of the branch of a message, by its id or '#number'")
    .option("-C, --cwd <directory>", "work in this directory")
    .addOption(
      new Option("-o, --output <format>", "what --print writes (text if not given)").choices(["text", "json", "jsonl"]),
    )
    .option("--temperature <number>", "how freely the model answers, from 0 to 2", numberBetween(0, 2))
    .option("--max-tokens <number>", "tokens of one answer", positiveInteger)
    .option("--max-turns <number>", "model calls of one turn (50 if not given)", positiveInteger)
    .option("--max-cost <dollars>", "US dollars for one turn", dollars)
    .option("--timeout <time>", "time for one turn: seconds, or 30s, 5m, 1h", duration)
    .addOption(listOption("--allow <rule>", "run calls that this rule covers without asking, as in 'shell(npm test*)'"))
    .addOption(listOption("--deny <rule>", "never run calls that this rule covers; may be repeated, as --allow may"))
    .option("--rules <file>", "permission rules in a JSON file")
    .addOption(
      new Option(
        "--approval <mode>",
        "what runs without asking: ask (only looking), edits (changing files here too), all",
      ).choices(["ask", "edits", "all"]),
    )
    .addOption(
      new Option("--color <when>", "when to use colours (auto if not given)").choices(["auto", "always", "never"]),
    )
    .option("--plain", "plain lines: nothing is redrawn, choices are numbers")
    .version(manifest.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", MORE);
}

function listOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value, previous: readonly string[] = []) => [...previous, value]);
}

/** The output format of a command line that could not be read: a script that asked for JSON gets its result as JSON. */
function outputIn(argv: readonly string[]): OutputFormat {
  const joined = argv.join("\0");
  const [, format] = /(?:^|\0)(?:--output|-o)(?:\0|=)?(jsonl?)(?:\0|$)/.exec(joined) ?? [];
  return format === "json" || format === "jsonl" ? format : "text";
}

import { acpLine } from "./acp/arguments.ts";
import { attachLine } from "./attach/arguments.ts";
import { changesLine } from "./changes/arguments.ts";
import { configLine } from "./config/arguments.ts";
import { conversationsLine } from "./conversations/arguments.ts";
import { evalLine } from "./eval/arguments.ts";
import { mcpLine } from "./mcp/arguments.ts";
import { memoryLine } from "./memory/arguments.ts";
import { modelsLine } from "./models/arguments.ts";
import { nodesLine } from "./nodes/arguments.ts";
import type { ExitCode } from "./program/exit.ts";
import { type CommandLine, parseCommandLine, type UnperformedLine } from "./program/parse.ts";
import { serveLine } from "./serve/arguments.ts";
import { worktreesLine } from "./worktrees/arguments.ts";

/** Each subcommand: the words that it takes, and its action, which loads the rest of the subcommand. */
const subcommands = {
  models: subcommand("models", modelsLine, async (args) => (await import("./models/models.ts")).models(args)),
  conversations: subcommand("conversations", conversationsLine, async (args) =>
    (await import("./conversations/conversations.ts")).conversations(args),
  ),
  config: subcommand("config", configLine, async (args) => (await import("./config/config.ts")).config(args)),
  mcp: subcommand("mcp", mcpLine, async (args) => (await import("./mcp/mcp.ts")).mcp(args)),
  changes: subcommand("changes", changesLine, async (args) => (await import("./changes/changes.ts")).changes(args)),
  worktrees: subcommand("worktrees", worktreesLine, async (args) =>
    (await import("./worktrees/worktrees.ts")).worktrees(args),
  ),
  memory: subcommand("memory", memoryLine, async (args) => (await import("./memory/memory.ts")).memory(args)),
  serve: subcommand("serve", serveLine, async (args) => (await import("./serve/serve.ts")).runServe(args)),
  attach: subcommand("attach", attachLine, async (args) => (await import("./run.ts")).runAttach(args)),
  acp: subcommand("acp", acpLine, async (args, starter) => (await import("./acp/acp.ts")).acp(args, starter)),
  nodes: subcommand("nodes", nodesLine, async (args) => (await import("./nodes/nodes.ts")).nodes(args)),
  eval: subcommand("eval", evalLine, async (args) => (await import("./eval/eval.ts")).evaluateFile(args)),
};

type Name = keyof typeof subcommands;

/** A subcommand with the arguments of a command line. */
export type WantedSubcommand = Exclude<ReturnType<(typeof subcommands)[Name]["read"]>, UnperformedLine>;

/** `starter` is the id of the process that started the program. */
type ActionOf<Arguments> = (args: Arguments, starter: number) => Promise<ExitCode>;

function subcommand<Type extends string, Arguments>(
  type: Type,
  line: CommandLine<Arguments>,
  action: ActionOf<Arguments>,
) {
  return {
    action,
    read(argv: readonly string[]): { readonly type: Type; readonly arguments: Arguments } | UnperformedLine {
      const found = parseCommandLine(`banyan ${type}`, line, argv);
      return found.type === "read" ? { type, arguments: found.arguments } : found;
    },
  };
}

/** All words that name a command when they begin a command line. */
export const COMMANDS: readonly string[] = ["run", ...Object.keys(subcommands)];

/**
 * Parses a command line whose first word is a subcommand. Returns undefined for any other line: after an option, or in
 * quotes together with other words, the name of a subcommand is part of a message.
 */
export function subcommandIn([name = "", ...rest]: readonly string[]): WantedSubcommand | UnperformedLine | undefined {
  return Object.hasOwn(subcommands, name) ? subcommands[name as Name].read(rest) : undefined;
}

/** Runs a subcommand. Resolves with its exit code. */
export function carryOut(wanted: WantedSubcommand, starter: number): Promise<ExitCode> {
  // The arguments were read for the action of the same name.
  const action = subcommands[wanted.type].action as ActionOf<WantedSubcommand["arguments"]>;
  return action(wanted.arguments, starter);
}

/** Returns whether a line could be a misspelt command: its first word is unknown, and no sentence follows. */
export function isPerhapsMisspelt([name = "", second]: readonly string[]): boolean {
  return /^[a-z]+$/.test(name) && !COMMANDS.includes(name) && (second === undefined || /^-|\s/.test(second));
}

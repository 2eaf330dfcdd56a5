import { nearest } from "@banyan/core";
import { agents } from "./agents.ts";
import { approval } from "./approval.ts";
import { branch } from "./branch.ts";
import { changes } from "./changes.ts";
import { clear } from "./clear.ts";
import { ASK, type Command, type CommandContext, type ConversationContext, type Next } from "./command.ts";
import { compact } from "./compact.ts";
import { context } from "./context.ts";
import { edit } from "./edit.ts";
import { exit } from "./exit.ts";
import { label } from "./label.ts";
import { mcp } from "./mcp.ts";
import { memory } from "./memory.ts";
import { mode } from "./mode.ts";
import { model } from "./model.ts";
import { promptCommands } from "./prompt-commands.ts";
import { remove } from "./remove.ts";
import { restore } from "./restore.ts";
import { resumeCommand } from "./resume.ts";
import { retryCommand } from "./retry.ts";
import { star } from "./star.ts";
import { title } from "./title.ts";
import { tree } from "./tree.ts";
import { undo } from "./undo.ts";
import { usage } from "./usage.ts";
import { waiting } from "./waiting.ts";

type Listed = readonly Pick<Command, "name" | "takes" | "help">[];

/** `/help` for a list of commands, which it is part of. */
function helpFor<Context extends ConversationContext>(
  known: (context: Context) => Listed | Promise<Listed>,
): Command<Context> {
  return {
    name: "help",
    help: "show this",
    anytime: true,
    async run(context) {
      const { write, style } = context;
      const rows = (await known(context)).map(
        ({ name, takes = "", help }) => [`/${name} ${takes}`.trimEnd(), help] as const,
      );
      const width = Math.max(...rows.map(([left]) => left.length)) + 3;
      write(
        ...rows.map(([left, right]) => `  ${left.padEnd(width)}${style.dim(right)}`),
        "",
        style.dim("  Enter sends; \\ at the end of a line goes on in the next one; a paste is one message."),
        style.dim(
          "  While the agent works, Enter steers it: it hears you before it does the next thing. Alt+Enter, or a",
        ),
        style.dim("  line that begins with >, waits for the end of its turn."),
        style.dim("  Ctrl-C interrupts, or clears what is typed; twice on an empty line, or Ctrl-D, exits."),
      );
      return ASK;
    },
  };
}

/** All commands of the program's own, in the order in which `/help` lists them. */
export const commands: readonly Command[] = [
  helpFor(async ({ host }: CommandContext) => [...commands, ...(await promptCommands(host))]),
  exit,
  mode,
  model,
  approval,
  waiting,
  resumeCommand,
  retryCommand,
  edit,
  tree,
  branch,
  label,
  star,
  remove,
  restore,
  changes,
  undo,
  usage,
  context,
  compact,
  memory,
  agents,
  mcp,
  title,
  clear,
];

/** Those that are about the conversation itself, wherever it is. */
export const conversationCommands: readonly Command<ConversationContext>[] = [
  helpFor(() => conversationCommands),
  exit,
  waiting,
  resumeCommand,
  retryCommand,
  edit,
  tree,
  branch,
  label,
  star,
  remove,
  restore,
  usage,
];

/** Whether a line is a command that can be carried out while the agent works. */
export function runsAnytime(line: string): boolean {
  return commandIn(line, commands).command?.anytime === true;
}

/**
 * Carries out a line that begins with a slash: a command of the program's own, or else one that a user, a project or an
 * MCP server brings. One that no command fits goes nowhere: the nearest ones are named.
 */
export async function runCommand(line: string, context: CommandContext): Promise<Next> {
  const isOwn = commandIn(line, commands).command !== undefined;
  return runCommandOf(isOwn ? commands : [...commands, ...(await promptCommands(context.host))], line, context);
}

/** The same with other commands than all. */
export async function runCommandOf<Context extends ConversationContext>(
  known: readonly Command<Context>[],
  line: string,
  context: Context,
): Promise<Next> {
  const { command, name, argument } = commandIn(line, known);
  if (command) return command.run(context, argument);
  const near = nearest(
    name,
    known.map((each) => each.name),
  ).map((each) => `/${each}`);
  const advice = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "/help lists the commands.";
  context.write(`There is no command /${name}. ${advice} To send this to the model, begin it with a blank.`);
  return ASK;
}

function commandIn<Known extends { readonly name: string }>(
  line: string,
  known: readonly Known[],
): { readonly command?: Known; readonly name: string; readonly argument: string } {
  const [, name = "", argument = ""] = /^\/(\S*)\s*(.*)$/s.exec(line.trimEnd()) ?? [];
  const command = known.find((each) => each.name === name.toLowerCase());
  return { ...(command ? { command } : {}), name, argument: argument.trim() };
}

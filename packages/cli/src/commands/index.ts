import { nearest } from "@banyan/core";
import { branch } from "./branch.ts";
import { clear } from "./clear.ts";
import { ASK, type Command, type CommandContext, type Next } from "./command.ts";
import { edit } from "./edit.ts";
import { exit } from "./exit.ts";
import { label } from "./label.ts";
import { model } from "./model.ts";
import { remove } from "./remove.ts";
import { restore } from "./restore.ts";
import { resumeCommand } from "./resume.ts";
import { retryCommand } from "./retry.ts";
import { star } from "./star.ts";
import { tree } from "./tree.ts";
import { usage } from "./usage.ts";
import { waiting } from "./waiting.ts";

const help: Command = {
  name: "help",
  help: "show this",
  anytime: true,
  run(context) {
    const rows = commands.map(({ name, takes = "", help }) => [`/${name} ${takes}`.trimEnd(), help] as const);
    const width = Math.max(...rows.map(([left]) => left.length)) + 3;
    context.write(
      ...rows.map(([left, right]) => `  ${left.padEnd(width)}${context.style.dim(right)}`),
      "",
      context.style.dim("  Enter sends; \\ at the end of a line goes on in the next one; a paste is one message."),
      context.style.dim(
        "  While the agent works, Enter steers it: it hears you before it does the next thing. Alt+Enter, or a",
      ),
      context.style.dim("  line that begins with >, waits for the end of its turn."),
      context.style.dim("  Ctrl-C interrupts, or clears what is typed; twice on an empty line, or Ctrl-D, exits."),
    );
    return ASK;
  },
};

/** In the order in which `/help` lists them. */
const commands: readonly Command[] = [
  help,
  exit,
  model,
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
  clear,
];

/** Whether a line is a command that can be carried out while the agent works. */
export function runsAnytime(line: string): boolean {
  return commandIn(line).command?.anytime === true;
}

/** Carries out a line that begins with a slash. One that no command fits goes nowhere: the nearest ones are named. */
export async function runCommand(line: string, context: CommandContext): Promise<Next> {
  const { command, name, argument } = commandIn(line);
  if (command) return command.run(context, argument);
  const near = nearest(
    name,
    commands.map((known) => known.name),
  ).map((known) => `/${known}`);
  const advice = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "/help lists the commands.";
  context.write(`There is no command /${name}. ${advice} To send this to the model, begin it with a blank.`);
  return ASK;
}

function commandIn(line: string): { readonly command?: Command; readonly name: string; readonly argument: string } {
  const [, name = "", argument = ""] = /^\/(\S*)\s*(.*)$/s.exec(line.trimEnd()) ?? [];
  const command = commands.find((known) => known.name === name.toLowerCase());
  return { ...(command ? { command } : {}), name, argument: argument.trim() };
}

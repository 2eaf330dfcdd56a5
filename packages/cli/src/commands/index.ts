import { say } from "@banyan/core";
import { isRootFolder, nearest, slashIn } from "@banyan/core/shown";
import { described } from "../show/described.ts";
import { wrap } from "../show/fit-text.ts";
import { agents, agentsHere } from "./agents.ts";
import { branch } from "./branch.ts";
import { changes, undo } from "./changes.ts";
import {
  ASK,
  type Command,
  type CommandContext,
  type ConversationContext,
  type Next,
  type SayingCommand,
} from "./command.ts";
import { config, configHere } from "./config.ts";
import { approval, approvalHere, clear, exit, mode, title } from "./conversation.ts";
import { hooks, mcp } from "./equipment.ts";
import { keys } from "./keys.ts";
import { memory, memoryHere, memoryShown } from "./memory.ts";
import { edit, label, remove, restore, star } from "./messages.ts";
import { model } from "./model.ts";
import { plan } from "./plan.ts";
import { processes, processesShown } from "./processes.ts";
import { init, promptCommands } from "./prompt-commands.ts";
import { findings, review } from "./review.ts";
import { share } from "./share.ts";
import { bring, compare, fan, worktree, worktrees } from "./side-by-side.ts";
import { status, statusHere, statusShown } from "./status.ts";
import { copy, exportFile } from "./taking.ts";
import { transcript, tree } from "./tree.ts";
import { compact, resumeCommand, resumeHere, retryCommand } from "./turns.ts";
import { context, usage } from "./usage.ts";
import { waiting } from "./waiting.ts";

type Listed = readonly Pick<Command, "name" | "takes" | "help">[];

const HOW = [
  "Enter sends; \\ at the end of a line goes on in the next one; a paste is one message.",
  "While the agent works, Enter steers it: it hears you before it does the next thing. Alt+Enter, or a line that begins with >, waits for the end of its turn.",
  "!command runs in your shell, on this machine, and the agent gets its output; of !!command it gets nothing.",
  "Ctrl-C interrupts, or clears what is typed; twice on an empty line, or Ctrl-D, exits. ? on an empty line shows all keys.",
];

/** `/help` for a list of commands, which it is part of. */
function helpFor<Context extends ConversationContext>(
  known: (context: Context) => Listed | Promise<Listed>,
  how: readonly string[] = HOW,
): Command<Context> {
  return {
    name: "help",
    help: "show this",
    anytime: true,
    async run(context) {
      const { write, style, columns } = context;
      const rows = (await known(context)).map(({ name, takes = "", help }) => ({
        name: [`/${name} ${takes}`.trimEnd()],
        text: help,
      }));
      write(...described(rows, columns, style), "");
      for (const sentence of how) write(style.dim(wrap(sentence, columns)));
      return ASK;
    },
  };
}

/**
 * All commands of the program's own, in the order in which `/help` lists them: each as it is in a chat with an agent of this
 * process, then for a conversation at a server, then for who may only watch one (S28). What a command cannot do there is left out.
 */
const ROWS: readonly (readonly [
  here: Command,
  atServer?: Command<ConversationContext>,
  watching?: Command<ConversationContext>,
])[] = [
  [exit, exit, exit],
  [status, statusHere, statusShown],
  [config, configHere, configHere],
  [mode, mode],
  [model, model],
  [approval, approvalHere],
  [waiting, waiting],
  [plan, plan, plan],
  [processes, processes, processesShown],
  [resumeCommand, resumeHere],
  [retryCommand, retryCommand],
  [edit, edit],
  [tree, tree],
  [transcript, transcript, transcript],
  [copy, copy, copy],
  [exportFile, exportFile, exportFile],
  [share, share],
  [branch, branch],
  [fan, fan],
  [compare, compare],
  [bring, bring],
  [worktree, worktree],
  [worktrees, worktrees],
  [label, label],
  [star, star],
  [remove, remove],
  [restore, restore],
  [changes, changes, changes],
  [undo, undo],
  [review, review],
  [findings, findings],
  [init, init],
  [usage, usage, usage],
  [context, context],
  [compact, compact],
  [memory, memoryHere, memoryShown],
  [agents, agentsHere, agentsHere],
  [mcp],
  [hooks],
  [keys, keys, keys],
  [title, title],
  [clear],
];

/** In a chat with an agent of this process. */
export const commands: readonly Command[] = [
  helpFor(async (context: CommandContext) => [...commands, ...(await promptCommands(context))]),
  ...ROWS.map(([here]) => here),
];

/** Those that are about the conversation itself, wherever it is. */
export const conversationCommands: readonly Command<ConversationContext>[] = [
  helpFor(async (context) => [...conversationCommands, ...(await promptCommands(context))]),
  ...ROWS.flatMap(([, atServer]) => atServer ?? []),
];

/** Those that show what is there: the server refuses none of them to who may only watch. */
export const watchingCommands: readonly Command<ConversationContext>[] = [
  helpFor(() => watchingCommands, ["Ctrl-C twice, or Ctrl-D, exits. ? on an empty line shows all keys."]),
  ...ROWS.flatMap(([, , watching]) => watching ?? []),
];

/** Those that print mode has too. */
export const sayingCommands: readonly SayingCommand[] = [init, review];

/** Whether a line is one of these commands. */
export function isCommand(line: string, known: readonly Pick<Command, "name" | "also">[]): boolean {
  return commandIn(line, known).command !== undefined;
}

/** Returns whether a line that begins with a slash is words: none of these commands, and no slip in the name of one (C18). */
export function isWords(line: string, known: readonly Pick<Command, "name" | "also">[]): boolean {
  return !isCommand(line, known) && isRootFolder(slashIn(line)?.name ?? "tmp");
}

/** Whether a line is the command to leave. */
export function isExit(line: string): boolean {
  return /^\/(exit|quit)\s*$/i.test(line);
}

/** Whether a line is one of these commands, and one that can be carried out while the agent works. */
export function runsAnytime(
  line: string,
  known: readonly Pick<Command, "name" | "also" | "anytime">[] = commands,
): boolean {
  return commandIn(line, known).command?.anytime === true;
}

/**
 * Carries out a line that begins with a slash: one of these commands, or else one that a user, a project or an MCP server brings.
 * One that no command fits goes nowhere: the nearest ones are named.
 */
export async function runCommand<Context extends ConversationContext>(
  known: readonly Command<Context>[],
  line: string,
  context: Context,
): Promise<Next> {
  return runCommandOf(await commandsFor(known, line, context), line, context);
}

/** The commands that a line may mean: these, and where none of them has that very name, those that others bring before them. */
export async function commandsFor<Context extends ConversationContext>(
  known: readonly Command<Context>[],
  line: string,
  context: Context,
): Promise<readonly Command<Context>[]> {
  const { command, name } = commandIn(line, known);
  if (command?.name === name.toLowerCase() && !command.givesWay) return known;
  const brought = await promptCommands(context);
  // A name with a colon may be one of a server that is starting.
  const mayCome = name.includes(":") && !isCommand(line, brought);
  return [...(mayCome ? await promptCommands(context, STARTING) : brought), ...known];
}

/** Milliseconds that a server may take to start until its commands are said not to be there. */
const STARTING = 10_000;

/** The same with no other commands than these. */
export async function runCommandOf<Context extends ConversationContext>(
  known: readonly Command<Context>[],
  line: string,
  context: Context,
): Promise<Next> {
  const { command, name, argument } = commandIn(line, known);
  if (command) return command.run(context, argument);
  if (isWords(line, known)) return { type: "turn", directive: say(line) };
  if (isCommand(line, commands)) {
    const advice = isCommand("/help", known) ? " /help lists what can." : "";
    context.write(`/${name} cannot be used here, only in a terminal beside the agent.${advice}`);
    return ASK;
  }
  const near = nearest(
    name,
    known.flatMap(({ name, also = [] }) => [name, ...also]),
  ).map((each) => `/${each}`);
  const advice = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "/help lists the commands.";
  context.write(`There is no command /${name}. ${advice} To send this to the model, begin it with a blank.`);
  return ASK;
}

function commandIn<Known extends Pick<Command, "name" | "also">>(
  line: string,
  known: readonly Known[],
): { readonly command?: Known; readonly name: string; readonly argument: string } {
  const { name = "", argument = "" } = slashIn(line) ?? {};
  const wanted = name.toLowerCase();
  // What somebody has called so themselves comes before what other programs call so.
  const command = known.find((each) => each.name === wanted) ?? known.find(({ also }) => also?.includes(wanted));
  return { ...(command ? { command } : {}), name, argument: argument.trim() };
}

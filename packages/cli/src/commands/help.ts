import { wrapSentence } from "../show/fit-text.ts";
import { nameLines } from "../show/name-lines.ts";
import { keyHelpLines } from "../terminal/full/keys/key-lines.ts";
import type { ConversationContext } from "./command.ts";
import { offeredCommands } from "./offered-commands.ts";
import { promptCommands } from "./prompt-commands.ts";

const HOW = [
  "Enter sends. \\ at the end of a line starts a new line. Pasted lines stay one message.",
  "While the agent works, Enter sends your message before the agent's next step. Alt+Enter, or > at the start, sends it after the turn.",
  "!command runs in your shell on this machine, and the agent sees its output. The agent does not see !!command.",
  "Ctrl-C stops the agent, or clears the line. Ctrl-C twice on an empty line, or Ctrl-D, exits. ? on an empty line shows all keys.",
];

const WATCHING = ["Ctrl-C twice, or Ctrl-D, exits. ? on an empty line shows all keys."];

export async function showHelp(context: ConversationContext): Promise<void> {
  const {
    write,
    user,
    screen: { style, columns },
  } = context;
  const known = [...offeredCommands(user), ...(await promptCommands(context))];
  const rows = known.map(({ name, takes = "", help }) => ({ name: [`/${name} ${takes}`.trimEnd()], text: help }));
  write(...nameLines(rows, columns, style), "");
  const how = user.rights.includes("act") ? HOW : WATCHING;
  for (const sentence of how) write(style.dim(wrapSentence(sentence, columns)));
}

export function showKeys({ write, screen: { keys: rows, style, columns } }: ConversationContext): void {
  if (rows) write(...keyHelpLines(rows, columns, style));
  else
    write("In a plain terminal, your system's own keys edit the line. Enter sends, Ctrl-C interrupts, Ctrl-D leaves.");
}

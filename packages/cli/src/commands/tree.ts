import { messageNumbers } from "@banyan/client/actions";
import { leaves } from "@banyan/core";
import { formatCount } from "@banyan/core/shown";
import { branchLines } from "../conversations/show.ts";
import { gist, messageMarks, speakerOf } from "../show/message-label.ts";
import type { ConversationContext } from "./command.ts";

/** Maximum lines. A longer tree is cut at the beginning. */
const MOST_LINES = 200;

/** Lets the user choose a message in the tree and continues from it. A plain terminal prints the tree. */
export async function showTree(context: ConversationContext): Promise<void> {
  if (!context.screen.pickMessage) return writeTree(context);
  const message = await context.screen.pickMessage();
  if (message !== undefined) await goTo(context, message);
}

export async function showTranscript(context: ConversationContext): Promise<void> {
  const {
    state,
    leaf,
    agent,
    write,
    screen: { viewBranch, style, columns },
  } = context;
  if (viewBranch) await viewBranch();
  else if (leaf !== null) write(...branchLines(state, leaf, { agent, style, columns }));
}

/** Continues from a message, unless the agent works. */
export async function goTo(context: ConversationContext, message: string): Promise<void> {
  if (context.run === undefined) await context.goTo(message);
  else if (context.isAway) context.write("Not connected. Try again when you are connected.");
  else context.write("The agent is working. Try again after its answer, or stop the agent first.");
}

function writeTree(context: ConversationContext): void {
  const lines = treeLines(context);
  const left = lines.length - MOST_LINES;
  if (left > 0) context.write(context.screen.style.dim(`(${formatCount(left)} earlier messages)`));
  context.write(...lines.slice(-MOST_LINES), context.screen.style.dim("/tree #n continues from message n."));
}

/** One line per message. A reply is below its message; several replies to one message begin indented branches. */
function treeLines({ state, leaf, agent, screen: { columns, style } }: ConversationContext): string[] {
  const numbers = messageNumbers(state);
  const ends = leaves(state);
  const branches = new Map(ends.length > 1 ? ends.map((id, index) => [id, index + 1]) : []);
  const lines: string[] = [];
  const open = below(null, 0);
  // No recursion: a path can have 100,000 messages.
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { id, depth, first } = node;
    const message = state.messages.get(id);
    if (!message) continue;
    const indent = "  ".repeat(Math.max(0, depth - 1)) + (depth === 0 ? "" : first ? "├ " : "│ ");
    const number = `#${numbers.get(id)}`.padEnd(4);
    const speaker = speakerOf(message, agent).padEnd(agent.length);
    const marks = messageMarks(message, branches.get(id))
      .map((mark) => `  ${mark}`)
      .join("");
    const here = id === leaf ? "  ← here" : "";
    const taken = indent.length + number.length + speaker.length + marks.length + here.length;
    const text = gist(message, Math.max(20, columns - taken - 4));
    lines.push(`${style.dim(indent + number)} ${style.accent(speaker)}  ${text}${style.dim(marks)}${style.bold(here)}`);
    open.push(...below(id, depth));
  }
  return lines;

  function below(parent: string | null, depth: number): { id: string; depth: number; first: boolean }[] {
    const children = (state.children.get(parent) ?? []).filter((id) => !state.messages.get(id)?.removed);
    const apart = children.length > 1;
    return children.map((id) => ({ id, depth: apart ? depth + 1 : depth, first: apart })).reverse();
  }
}

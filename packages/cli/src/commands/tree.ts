import { formatCount } from "../show/amounts.ts";
import { gist, messageNumbers, speakerOf } from "../show/message-label.ts";
import { ASK, type Command, type CommandContext } from "./command.ts";

/** The lines that are shown; of a longer tree the end. */
const MOST_LINES = 200;

export const tree: Command = {
  name: "tree",
  help: "show the tree of this conversation",
  run(context) {
    const lines = treeLines(context);
    const left = lines.length - MOST_LINES;
    if (lines.length === 0) context.write("Nothing has been said yet.");
    if (left > 0) context.write(context.style.dim(`(${formatCount(left)} earlier messages)`));
    context.write(...lines.slice(-MOST_LINES));
    if (lines.length > 0) context.write(context.style.dim("/branch #n goes on from message n."));
    return ASK;
  },
};

/** A line for each message. A message below another stands under it; where a message has several below, each begins a branch that is set in. */
function treeLines({ state, leaf, host, columns, style }: CommandContext): string[] {
  const numbers = messageNumbers(state);
  const lines: string[] = [];
  const open = below(null, 0);
  // Without recursion: a path can be 100,000 messages long.
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { id, depth, first } = node;
    const message = state.messages.get(id);
    if (!message) continue;
    const indent = "  ".repeat(Math.max(0, depth - 1)) + (depth === 0 ? "" : first ? "├ " : "│ ");
    const number = `#${numbers.get(id)}`.padEnd(4);
    const speaker = speakerOf(message, host.agent.name).padEnd(host.agent.name.length);
    const here = id === leaf ? "  ← here" : "";
    const room = Math.max(20, columns - indent.length - number.length - speaker.length - here.length - 4);
    lines.push(`${style.dim(indent + number)} ${style.accent(speaker)}  ${gist(message, room)}${style.bold(here)}`);
    open.push(...below(id, depth));
  }
  return lines;

  function below(parent: string | null, depth: number): { id: string; depth: number; first: boolean }[] {
    const children = state.children.get(parent) ?? [];
    const apart = children.length > 1;
    return children.map((id) => ({ id, depth: apart ? depth + 1 : depth, first: apart })).reverse();
  }
}

import { leaves, pathTo, textOf } from "@banyan/core";
import { isPersons, worktreeAt } from "@banyan/core/conversation";
import { counted, visibleLine } from "@banyan/core/shown";
import { excerpt } from "../show/fit-text.ts";
import { gist, isRemoved, messageNamed } from "../show/message-label.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const branch: Command<ConversationContext> = {
  name: "branch",
  also: ["fork"],
  takes: "[n | #n | text]",
  help: "list the branches, switch to one, or go on from message #n",
  async run(context, argument) {
    const all = leaves(context.state);
    if (all.length === 0) {
      context.write("Nothing has been said yet.");
      return ASK;
    }
    if (argument === "") {
      list(context, all, all);
      return ASK;
    }
    const found = branchesNamed(context, all, argument);
    if (found.length === 1) await context.goTo(found[0] as string);
    else if (found.length > 1) list(context, all, found);
    else
      context.write(
        `No branch or message is ${excerpt(argument, 60)}. /branch lists the branches, /tree the messages.`,
      );
    return ASK;
  },
};

/** The messages that are meant: the end of a branch by its number, a message by `#` and its number or by its id, else the branches with that text. */
export function branchesNamed({ state }: ConversationContext, all: readonly string[], argument: string): string[] {
  const named = /^\d+$/.test(argument) ? all[Number(argument) - 1] : messageNamed(state, argument);
  if (named !== undefined) return isRemoved(state, named) ? [] : [named];
  if (/^#?\d+$/.test(argument)) return [];
  const wanted = argument.toLowerCase();
  return all.filter((leaf) => pathTo(state, leaf).some((message) => textOf(message).toLowerCase().includes(wanted)));
}

function list(
  { state, leaf, columns, style, write }: ConversationContext,
  all: readonly string[],
  some: readonly string[],
): void {
  for (const id of some) {
    const path = pathTo(state, id);
    const asked = path.findLast(isPersons);
    const end = path.at(-1);
    const head = `${id === leaf ? "*" : " "} ${String(all.indexOf(id) + 1).padStart(2)}  `;
    const room = Math.max(20, columns - head.length - 4);
    if (asked) write(`${head}${style.bold(gist(asked, room))}`);
    if (end && end !== asked) write(`      ${gist(end, room)}`);
    const worktree = worktreeAt(state, id);
    const where = worktree === undefined ? "" : `, in the worktree ${visibleLine(worktree)}`;
    write(style.dim(`      ${counted(path.length, "message")}${where}`));
  }
  write(style.dim("/branch n switches to branch n."));
}

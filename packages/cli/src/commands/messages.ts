import type { Message } from "@banyan/core";
import { type ConversationState, pathTo, retry, textOf } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import { excerpt } from "../show/fit-text.ts";
import { gist, isRemoved, messageNamed, messageNumbers, speakerOf } from "../show/message-label.ts";
import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext, type Next } from "./command.ts";

/** The message that an argument begins with, as `#4`, and what stands behind it. Says so when there is none, or when it was removed. */
export function namedMessage(
  { state, write }: ConversationContext,
  argument: string,
): { readonly message: Message; readonly number: string; readonly rest: string } | undefined {
  const [, name = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(argument) ?? [];
  const id = messageNamed(state, name);
  const message = id === undefined ? undefined : state.messages.get(id);
  if (!message) {
    const which = name === "" ? "Name a message by its number, as in #1." : `There is no message ${excerpt(name, 40)}.`;
    write(`${which} /tree shows the numbers.`);
    return undefined;
  }
  if (isRemoved(state, message.id)) {
    write(`${name} was removed. /restore brings it back.`);
    return undefined;
  }
  return { message, number: name, rest };
}

export const label: Command<ConversationContext> = {
  name: "label",
  takes: "#n [text]",
  help: "name message #n, or take its name away",
  anytime: true,
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const text = oneLine(named.rest);
    await context.session?.perform("message.label", { message: named.message.id, label: text === "" ? null : text });
    context.write(text === "" ? `${named.number} has no name any more.` : `${named.number} is [${text}] now.`);
    return ASK;
  },
};

export const star: Command<ConversationContext> = {
  name: "star",
  takes: "#n",
  help: "mark message #n with a star, or take it away",
  anytime: true,
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const starred = named.message.starred !== true;
    await context.session?.perform("message.star", { message: named.message.id, starred });
    context.write(starred ? `${named.number} has a star ★ now.` : `${named.number} has no star any more.`);
    return ASK;
  },
};

export const remove: Command<ConversationContext> = {
  name: "remove",
  takes: "#n",
  help: "put message #n and all below it out of sight; /restore brings it back",
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const { id } = named.message;
    const stoodThere = pathTo(context.state, context.leaf).some((message) => message.id === id);
    const count = countFrom(context.state, id);
    await context.session?.perform("message.remove", { message: id });
    if (stoodThere) context.goBack();
    context.write(`Removed ${counted(count, "message")}. /restore ${named.number} brings them back.`);
    return ASK;
  },
};

/** The messages from one on down that are in sight. */
function countFrom(state: ConversationState, message: string): number {
  let count = 0;
  const open = [message];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (state.messages.get(id)?.removed) continue;
    count++;
    for (const child of state.children.get(id) ?? []) open.push(child);
  }
  return count;
}

export const restore: Command<ConversationContext> = {
  name: "restore",
  takes: "[#n]",
  help: "bring back what was removed",
  async run({ state, session, agent, columns, write }, argument) {
    const numbers = messageNumbers(state);
    const removed = [...state.messages.values()].filter((message) => message.removed);
    const named = argument === "" ? undefined : messageNamed(state, argument);
    const wanted = argument === "" ? removed : removed.filter(({ id }) => id === named);
    const [only] = wanted;
    if (removed.length === 0) write("Nothing was removed.");
    else if (!only) write(`${excerpt(argument, 40)} was not removed. /restore lists what was.`);
    else if (wanted.length > 1) {
      for (const message of removed) {
        const head = `#${numbers.get(message.id)}  ${speakerOf(message, agent)}  `;
        write(`${head}${gist(message, Math.max(20, columns - head.length))}`);
      }
      write("/restore #n brings one of these back, with all below it.");
    } else {
      await session?.perform("message.restore", { message: only.id });
      const number = `#${numbers.get(only.id)}`;
      write(`Back again: ${counted(countFrom(state, only.id), "message")}. /tree ${number} goes on from there.`);
    }
    return ASK;
  },
};

export const edit: Command<ConversationContext> = {
  name: "edit",
  takes: "#n [text]",
  help: "say your message #n, or the summary #n, in other words; what it was stays beside it",
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const { message, number, rest } = named;
    if (message.role === "summary" && message.covers !== undefined)
      return editOf(context, { id: message.id, number, old: textOf(message), text: rest });
    if (message.role !== "user" || message.author !== "user") {
      context.write(`${number} is not yours. /tree ${number} goes on from it.`);
      return ASK;
    }
    if (rest !== "") return { type: "turn", directive: retry(rest), at: message.id };
    await context.goTo(message.id);
    return ASK;
  },
};

/** Puts an edited summary beside the summary (F99); without a text, the old one goes into the prompt to be changed. */
async function editOf(
  { session, standAt, typeIn, write }: ConversationContext,
  {
    id,
    number,
    old,
    text,
  }: { readonly id: string; readonly number: string; readonly old: string; readonly text: string },
): Promise<Next> {
  if (text === "") {
    typeIn?.(`/edit ${number} ${old}`);
    write(
      typeIn
        ? "Change the summary and send it; what it was stays beside it."
        : `Write the new text behind /edit ${number}.`,
    );
  } else if (session) {
    const { message } = await session.perform("summary.edit", { message: id, text });
    standAt(message);
    write("Your next message goes on from the edited summary.");
  }
  return ASK;
}

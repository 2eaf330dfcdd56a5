import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";
import { namedMessage } from "./named-message.ts";

export const label: Command<ConversationContext> = {
  name: "label",
  takes: "#n [text]",
  help: "name message #n, or take its name away",
  anytime: true,
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const text = oneLine(named.rest);
    await context.session?.label(named.message.id, text === "" ? null : text);
    context.write(text === "" ? `${named.number} has no name any more.` : `${named.number} is [${text}] now.`);
    return ASK;
  },
};

import { retry } from "@banyan/core";
import { ASK, type Command, type ConversationContext } from "./command.ts";
import { namedMessage } from "./named-message.ts";

export const edit: Command<ConversationContext> = {
  name: "edit",
  takes: "#n [text]",
  help: "say your message #n in other words; what it was stays beside it",
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const { message, number, rest } = named;
    if (message.role !== "user" || message.author !== "user") {
      context.write(`${number} is not yours. /tree ${number} goes on from it.`);
      return ASK;
    }
    if (rest !== "") return { type: "turn", directive: retry(rest), at: message.id };
    await context.goTo(message.id);
    return ASK;
  },
};

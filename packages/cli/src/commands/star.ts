import { ASK, type Command, type ConversationContext } from "./command.ts";
import { namedMessage } from "./named-message.ts";

export const star: Command<ConversationContext> = {
  name: "star",
  takes: "#n",
  help: "mark message #n with a star, or take it away",
  anytime: true,
  async run(context, argument) {
    const named = namedMessage(context, argument);
    if (!named) return ASK;
    const starred = named.message.starred !== true;
    await context.session?.star(named.message.id, starred);
    context.write(starred ? `${named.number} has a star ★ now.` : `${named.number} has no star any more.`);
    return ASK;
  },
};

import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const title: Command<ConversationContext> = {
  name: "title",
  takes: "[text]",
  help: "give this conversation a title",
  anytime: true,
  async run({ redact, session, state, write }, argument) {
    if (!session || state.messages.size === 0) write("Nothing has been said yet.");
    else if (argument === "") write(oneLine(state.title ?? "It has no title."));
    else {
      await session.rename(oneLine(redact(argument)));
      write(`This is “${oneLine(state.title ?? argument)}” now.`);
    }
    return ASK;
  },
};

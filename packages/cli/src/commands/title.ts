import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command } from "./command.ts";

export const title: Command = {
  name: "title",
  takes: "[text]",
  help: "give this conversation a title",
  anytime: true,
  async run({ host, session, state, write }, argument) {
    if (!session || state.messages.size === 0) write("Nothing has been said yet.");
    else if (argument === "") write(oneLine(state.title ?? "It has no title."));
    else {
      await session.rename(oneLine(host.redact(argument)));
      write(`This is “${oneLine(state.title ?? argument)}” now.`);
    }
    return ASK;
  },
};

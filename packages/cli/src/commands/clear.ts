import { optionWords, ownCommand } from "@banyan/host/own-command";
import { ASK, type Command } from "./command.ts";

export const clear: Command = {
  name: "clear",
  help: "begin a new conversation; this one stays",
  async run(context) {
    const old = await context.begin();
    context.write(
      old === undefined
        ? "This conversation is new already."
        : `A new conversation. The old one stays: ${ownCommand(optionWords("--resume", old))}`,
    );
    return ASK;
  },
};

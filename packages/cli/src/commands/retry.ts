import { pathTo, retry } from "@banyan/core";
import { standing } from "@banyan/core/conversation";
import { lastSaid } from "@banyan/host";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const retryCommand: Command<ConversationContext> = {
  name: "retry",
  takes: "[text]",
  help: "ask again, in other words if you give some; both answers stay",
  run({ state, leaf, write }, argument) {
    const said = lastSaid(pathTo(state, standing(state, leaf)));
    if (!said) {
      write("There is nothing to retry: nobody has said anything yet.");
      return ASK;
    }
    const directive = argument === "" ? retry() : retry(argument);
    return { type: "turn", directive, at: said.id };
  },
};

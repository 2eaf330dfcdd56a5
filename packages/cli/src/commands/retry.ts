import { retry } from "@banyan/core";
import type { Command, ConversationContext } from "./command.ts";

export const retryCommand: Command<ConversationContext> = {
  name: "retry",
  takes: "[text]",
  help: "ask again, in other words if you give some; both answers stay",
  run: async ({ message }, argument) => ({
    type: "turn",
    directive: argument === "" ? retry() : retry((await message?.(argument)) ?? argument),
  }),
};

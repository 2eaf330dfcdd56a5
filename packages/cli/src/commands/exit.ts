import type { Command, ConversationContext } from "./command.ts";

export const exit: Command<ConversationContext> = {
  name: "exit",
  help: "leave; the conversation stays",
  run: () => ({ type: "leave" }),
};

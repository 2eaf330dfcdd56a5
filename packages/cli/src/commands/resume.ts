import { resume } from "@banyan/core";
import type { Command, ConversationContext } from "./command.ts";

export const resumeCommand: Command<ConversationContext> = {
  name: "resume",
  help: "go on with what was interrupted, and with what was held",
  run: () => ({ type: "turn", directive: resume() }),
};

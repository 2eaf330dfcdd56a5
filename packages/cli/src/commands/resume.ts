import { pathTo, resume } from "@banyan/core";
import { lastAssistantMessage } from "@banyan/core/conversation";
import { ASK, type Command, type ConversationContext, type Next } from "./command.ts";

const GO_ON: Next = { type: "turn", directive: resume() };

/** Where a person can be in one conversation only. */
export const resumeHere: Command<ConversationContext> = {
  name: "resume",
  help: "go on with what was interrupted, and with what was held",
  run: () => GO_ON,
};

export const resumeCommand: Command = {
  name: "resume",
  takes: "[name]",
  help: "go on with what was interrupted or held; else, or with a name, in another conversation",
  async run(context, argument) {
    if (argument === "" && isLeft(context)) return GO_ON;
    await context.enter(argument === "" ? undefined : argument);
    return ASK;
  },
};

/** Whether something here was not brought to its end. */
function isLeft({ state, leaf }: ConversationContext): boolean {
  if (state.inbox.length > 0) return true;
  const path = pathTo(state, leaf);
  const answer = lastAssistantMessage(path);
  return path.length > 0 && (answer !== path.at(-1) || answer?.finish !== "stop" || answer.calls.length > 0);
}

import { approvalSentence } from "../chat/approval-mode.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const approval: Command<ConversationContext> = {
  name: "approval",
  takes: "[ask | edits | all]",
  help: "say what runs without asking you, until you leave",
  anytime: true,
  async run({ approval: current, useApproval, write }, argument) {
    if (argument === "" || argument === current) write(approvalSentence(current));
    else if (argument === "ask" || argument === "edits" || argument === "all") await useApproval(argument);
    else write("It is one of ask (only looking runs without asking), edits (changing files here too) and all.");
    return ASK;
  },
};

/** Where others are asked too. */
export const approvalHere: Command<ConversationContext> = {
  ...approval,
  help: "say what runs without asking, for everybody at this server",
};

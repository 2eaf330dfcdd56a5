import { approvalSentence } from "../chat/approval-mode.ts";
import { ASK, type Command } from "./command.ts";

export const approval: Command = {
  name: "approval",
  takes: "[ask | edits | all]",
  help: "say what runs without asking you, until you leave",
  anytime: true,
  run({ host, write }, argument) {
    if (argument === "ask" || argument === "edits" || argument === "all") host.useApproval(argument);
    else if (argument !== "") {
      write("It is one of ask (only looking runs without asking), edits (changing files here too) and all.");
      return ASK;
    }
    write(approvalSentence(host.approval));
    return ASK;
  },
};

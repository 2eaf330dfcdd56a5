import { pathTo, resume, retry } from "@banyan/core";
import { lastAssistantMessage, standing } from "@banyan/core/conversation";
import { compactedLine } from "@banyan/core/shown";
import { lastSaid } from "@banyan/host";
import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext, type Next } from "./command.ts";

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

const GO_ON: Next = { type: "turn", directive: resume() };

/** Where a person can be in one conversation only. */
export const resumeHere: Command<ConversationContext> = {
  name: "resume",
  also: ["chat", "sessions"],
  help: "go on with what was interrupted, and with what was held",
  run: () => GO_ON,
};

export const resumeCommand: Command = {
  name: "resume",
  also: ["chat", "sessions"],
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

export const compact: Command<ConversationContext> = {
  name: "compact",
  also: ["compress"],
  takes: "[what to keep]",
  help: "have the model sum up what was said so far; the summary stands for it from now on",
  async run({ leaf, compact, write }, argument) {
    if (leaf === null) {
      write("Nothing has been said yet.");
      return ASK;
    }
    const { compaction, problem } = await compact(leaf, argument === "" ? undefined : argument);
    if (problem !== undefined) write(`Nothing was shortened: ${oneLine(problem)}`);
    else write(`${compaction ? compactedLine(compaction) : "Compacted"}. All of it stays in the tree.`);
    return ASK;
  },
};

import { retry, say } from "@banyan/core";
import { lastFindings, mendingRequest, REVIEWER, reviewRequest } from "@banyan/core/conversation";
import { visibleLine } from "@banyan/core/shown";
import { wrap } from "../show/fit-text.ts";
import { ASK, type Command, type ConversationContext, type SayingCommand } from "./command.ts";

export const review: SayingCommand = {
  name: "review",
  givesWay: true,
  takes: "[branch | commit | a..b]",
  help: "have another agent, which can only look, review what is not committed, a commit, or what changed here since a branch",
  run({ state }, argument) {
    const text = reviewRequest(argument);
    const [first] = state.children.get(null) ?? [];
    // A branch of its own from the root: it knows nothing of how the changes came about.
    return first === undefined
      ? { type: "turn", directive: say(text), agent: REVIEWER }
      : { type: "turn", directive: retry(text), at: first, agent: REVIEWER };
  },
};

export const findings: Command<ConversationContext> = {
  name: "findings",
  takes: "[n]",
  help: "list what the last review found, by file and line; with a number, have the agent that made the changes mend that",
  run({ state, leaf, columns, style, write }, argument) {
    const found = lastFindings(state, leaf);
    if (found === undefined) write("Nothing was reviewed in this conversation; /review does it.");
    else if (found.length === 0) write("The last review found nothing.");
    else if (argument === "") {
      for (const [index, { place, text }] of found.entries())
        write(wrap(`${String(index + 1).padStart(3)}  ${style.bold(place)}  ${visibleLine(text)}`, columns));
      write(style.dim("/findings n has the agent mend finding n."));
    } else {
      const finding = found[Number(argument) - 1];
      if (finding) {
        const { text, ...at } = mendingRequest(state, finding);
        return { type: "turn", directive: say(text), ...at, asIs: true };
      }
      write(`There is no finding ${visibleLine(argument)}; /findings lists them.`);
    }
    return ASK;
  },
};

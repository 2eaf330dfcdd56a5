import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const compact: Command<ConversationContext> = {
  name: "compact",
  takes: "[what to keep]",
  help: "have the model sum up what was said so far; the summary stands for it from now on",
  async run({ leaf, compact, style, write }, argument) {
    if (leaf === null) {
      write("Nothing has been said yet.");
      return ASK;
    }
    write(style.dim("Summing up; Ctrl-C stops it."));
    const problem = await compact(leaf, argument === "" ? undefined : argument);
    if (problem !== undefined) write(`Nothing was shortened: ${oneLine(problem)}`);
    else write("Shortened: a summary stands for what was said. All of it stays in the tree.");
    return ASK;
  },
};

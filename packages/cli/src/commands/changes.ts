import { changesOf, undoableCalls } from "@banyan/host";
import { changedFileLines, changedFileNamed, changeHead, diffLines } from "../show/diff-lines.ts";
import { excerpt } from "../show/fit-text.ts";
import { oneLine } from "../show/plain-text.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const changes: Command<ConversationContext> = {
  name: "changes",
  also: ["diff"],
  takes: "[path]",
  help: "list the files that this branch has changed; show what changed in one, or in the only one",
  anytime: true,
  run({ state, leaf, style, write }, argument) {
    const files = leaf === null ? [] : changesOf(state, leaf);
    if (argument === "" && files.length !== 1) {
      write(...changedFileLines(files));
      if (files.length > 0) write(style.dim("/changes PATH shows the diff, /undo takes the last change back."));
      return ASK;
    }
    const file = argument === "" ? files[0] : changedFileNamed(files, argument);
    if (!file) write(`${argument} was not changed on this branch. /changes lists what was.`);
    for (const change of file?.changes ?? []) write(changeHead(change, style), ...diffLines(change.diff, { style }));
    return ASK;
  },
};

/** Lines of a diff that are shown. */
const SHOWN = 40;

export const undo: Command<ConversationContext> = {
  name: "undo",
  takes: "[call id]",
  help: "put files back to what they were before the last call that changed some",
  async run({ state, leaf, undo, style, write }, argument) {
    const calls = leaf === null ? [] : undoableCalls(state, leaf);
    const call = argument === "" ? calls[0] : calls.find((known) => known.call === argument);
    if (!call) {
      const which =
        argument === "" ? "No call on this branch has" : `There is no call ${excerpt(argument, 40)} that has`;
      write(`${which} changed a file, or all is as it was. /changes lists what was changed.`);
      return ASK;
    }
    const { changes, problems } = await undo(call);
    for (const change of changes)
      write(`undone: ${changeHead(change, style)}`, ...diffLines(change.diff, { style, most: SHOWN }));
    for (const problem of problems) write(`${style.bad("Not undone:")} ${oneLine(problem)}`);
    if (changes.length > 0) write(style.dim("The agent is told with what you say next."));
    return ASK;
  },
};

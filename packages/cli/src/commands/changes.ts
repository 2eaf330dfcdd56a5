import { changesOf } from "@banyan/host";
import { changedFileLines } from "../show/changed-file-lines.ts";
import { changeHead, diffLines } from "../show/diff-lines.ts";
import { ASK, type Command, type ConversationContext } from "./command.ts";

export const changes: Command<ConversationContext> = {
  name: "changes",
  takes: "[path]",
  help: "list the files that this branch has changed, or show what changed in one",
  anytime: true,
  run({ state, leaf, style, write }, argument) {
    const files = leaf === null ? [] : changesOf(state, leaf);
    if (argument === "") {
      write(...changedFileLines(files));
      if (files.length > 0) write(style.dim("/changes PATH shows the diff, /undo takes the last change back."));
      return ASK;
    }
    const file = files.find(({ path }) => path === argument);
    if (!file) write(`${argument} was not changed on this branch. /changes lists what was.`);
    for (const change of file?.changes ?? []) write(changeHead(change, style), ...diffLines(change.diff, { style }));
    return ASK;
  },
};

import { changedFiles, undoableCalls } from "@banyan/host";
import { changedFileLines, changedFileNamed, changeHead, diffLines } from "../show/diff-lines.ts";
import { excerptLine } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import type { ConversationContext } from "./command.ts";

/** Lists the files that this branch changed, or the changes of one file. */
export function showChanges({ state, leaf, write, screen: { style } }: ConversationContext, argument: string): void {
  const files = leaf === null ? [] : changedFiles(state, leaf);
  if (argument === "" && files.length !== 1) {
    write(...changedFileLines(files));
    if (files.length > 0) write(style.dim("/changes PATH shows the diff, /undo reverts the last change."));
    return;
  }
  const file = argument === "" ? files[0] : changedFileNamed(files, argument);
  if (!file) write(`${argument} was not changed on this branch. /changes lists the changed files.`);
  for (const change of file?.changes ?? []) write(changeHead(change, style), ...diffLines(change.diff, { style }));
}

/** Maximum lines shown of a diff. */
const SHOWN = 40;

/** Undoes the file changes of a call. Default: the last call that changed files. */
export async function undoChanges(
  { state, leaf, undo, write, screen: { style } }: ConversationContext,
  argument: string,
): Promise<void> {
  const calls = leaf === null ? [] : undoableCalls(state, leaf);
  const call = argument === "" ? calls[0] : calls.find((known) => known.call === argument);
  if (!call) {
    const which =
      argument === "" ? "No call on this branch has" : `There is no call ${excerptLine(argument, 40)} that has`;
    return write(`${which} changed a file, or the changes are already undone. /changes lists the changed files.`);
  }
  const { changes, problems } = await undo(call);
  for (const change of changes)
    write(`Undone: ${changeHead(change, style)}`, ...diffLines(change.diff, { style, most: SHOWN }));
  for (const problem of problems) write(`${style.bad("Not undone:")} ${plainLine(problem)}`);
  if (changes.length > 0) write(style.dim("The agent is told about the undone changes with your next message."));
}

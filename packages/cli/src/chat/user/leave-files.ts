import { counted } from "@banyan/core/shown";
import type { RestorationResult } from "@banyan/host";
import { changedFileLines, changeHead, diffLines } from "../../show/diff-lines.ts";
import { plainLine } from "../../show/plain-text.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { DecisionChoice } from "../../terminal/questions/decision.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";
import type { DepartedBranch } from "../session/talk-session.ts";

export interface LeaveOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  revert(left: DepartedBranch): Promise<RestorationResult>;
}

/**
 * Shows the changed files of a branch that the user leaves, and asks what to do with them (T29). Reverts no file
 * without a choice. Returns whether the user leaves; without a choice they stay.
 */
export async function leaveFiles(left: DepartedBranch, { terminal, view, revert }: LeaveOptions): Promise<boolean> {
  const { style } = terminal;
  const { files } = left;
  const [, ...body] = changedFileLines(files);
  const title = `The branch that you leave has ${counted(files.length, "changed file")}`;
  for (let again = false; ; again = true) {
    const decided = await terminal.decide({
      title,
      body,
      question: "What should happen to these files?",
      choices: [KEEP, REVERT, DIFF],
      again,
    });
    if (!decided) return false;
    if (decided.key === KEEP.key) return true;
    if (decided.key === REVERT.key) {
      const { changes, problems } = await revert(left);
      for (const change of changes) view.line(`Restored: ${changeHead(change, style)}`);
      for (const problem of problems) view.say(`${style.bad("Not restored:")} ${plainLine(problem)}`);
      return true;
    }
    for (const change of files.flatMap((file) => file.changes))
      for (const line of [changeHead(change, style), ...diffLines(change.diff, { style })]) view.line(line);
  }
}

const KEEP: DecisionChoice = { key: "k", text: "Keep the files as they are", brief: "keep", words: ["keep"] };
const REVERT: DecisionChoice = {
  key: "r",
  text: "Restore the files to their state before this branch",
  brief: "restore",
  words: ["revert"],
};
const DIFF: DecisionChoice = { key: "d", text: "Show what changed", brief: "show", words: ["diff"] };

import type { ChangedFile, TakenBack } from "@banyan/host";
import { counted } from "../show/amounts.ts";
import { changedFileLines } from "../show/changed-file-lines.ts";
import { changeHead, diffLines } from "../show/diff-lines.ts";
import { oneLine } from "../show/plain-text.ts";
import type { Choice } from "../terminal/decision.ts";
import type { FeedView } from "../terminal/feed-view.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Where a person is told, and what can be done. */
export interface LeaveOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  /** Puts files back to what they were; absent where that cannot be done from here. */
  revert?(files: readonly ChangedFile[]): Promise<TakenBack>;
}

/**
 * Says which files the branch has changed that a person leaves, and lets them say what becomes of these (T29): nothing
 * goes back by itself. Answers whether they leave; without a choice they stay.
 */
export async function leaveFiles(
  files: readonly ChangedFile[],
  { terminal, view, revert }: LeaveOptions,
): Promise<boolean> {
  const { style } = terminal;
  const [, ...body] = changedFileLines(files);
  const title = `Left behind: ${counted(files.length, "changed file")}`;
  const choices = revert ? [KEEP, REVERT, DIFF] : [KEEP, DIFF];
  for (let again = false; ; again = true) {
    const decided = await terminal.decide({ title, body, question: "And now?", choices, again });
    if (!decided) return false;
    if (decided.key === KEEP.key) return true;
    if (decided.key === REVERT.key && revert) {
      const { changes, problems } = await revert(files);
      for (const change of changes) view.line(`put back: ${changeHead(change, style)}`);
      for (const problem of problems) view.say(`${style.bad("Not put back:")} ${oneLine(problem)}`);
      return true;
    }
    for (const change of files.flatMap((file) => file.changes))
      for (const line of [changeHead(change, style), ...diffLines(change.diff, { style })]) view.line(line);
  }
}

const KEEP: Choice = { key: "k", text: "keep the files as they are now", brief: "keep", words: ["keep"] };
const REVERT: Choice = {
  key: "r",
  text: "put them back to what they were before",
  brief: "put back",
  words: ["revert"],
};
const DIFF: Choice = { key: "d", text: "show what changed", brief: "show", words: ["diff"] };

import { counted } from "@banyan/core/shown";
import type { ChangedFile, TakenBack } from "@banyan/host";
import { changedFileLines, changeHead, diffLines } from "../../show/diff-lines.ts";
import { oneLine } from "../../show/plain-text.ts";
import type { Choice } from "../../terminal/decision.ts";
import type { FeedView } from "../../terminal/feed-view.ts";
import type { Terminal } from "../../terminal/terminal.ts";

/** A branch that a person leaves. */
export interface LeftBranch {
  /** Its end. */
  readonly leaf: string;
  /** The end of the one that they go to; `null` for the root. */
  readonly to: string | null;
  /** What it has changed that the other one has not. */
  readonly files: readonly ChangedFile[];
}

/** Where a person is told, and what can be done. */
export interface LeaveOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  /** Puts the files back to what they were before the branch. */
  revert(left: LeftBranch): Promise<TakenBack>;
}

/**
 * Says which files the branch has changed that a person leaves, and lets them say what becomes of these (T29): nothing
 * goes back by itself. Returns whether they leave; without a choice they stay.
 */
export async function leaveFiles(left: LeftBranch, { terminal, view, revert }: LeaveOptions): Promise<boolean> {
  const { style } = terminal;
  const { files } = left;
  const [, ...body] = changedFileLines(files);
  const title = `This branch leaves ${counted(files.length, "changed file")}`;
  for (let again = false; ; again = true) {
    const decided = await terminal.decide({
      title,
      body,
      question: "What should happen to them?",
      choices: [KEEP, REVERT, DIFF],
      again,
    });
    if (!decided) return false;
    if (decided.key === KEEP.key) return true;
    if (decided.key === REVERT.key) {
      const { changes, problems } = await revert(left);
      for (const change of changes) view.line(`Restored: ${changeHead(change, style)}`);
      for (const problem of problems) view.say(`${style.bad("Not restored:")} ${oneLine(problem)}`);
      return true;
    }
    for (const change of files.flatMap((file) => file.changes))
      for (const line of [changeHead(change, style), ...diffLines(change.diff, { style })]) view.line(line);
  }
}

const KEEP: Choice = { key: "k", text: "Keep the files as they are", brief: "keep", words: ["keep"] };
const REVERT: Choice = {
  key: "r",
  text: "Restore them to what they were before",
  brief: "restore",
  words: ["revert"],
};
const DIFF: Choice = { key: "d", text: "Show what changed", brief: "show", words: ["diff"] };

import { counted } from "@banyan/core/shown";
import type { Result } from "@banyan/protocol";
import { changedFileLines, changeHead, diffLines } from "../../show/diff-lines.ts";
import { plainLine } from "../../show/plain-text.ts";
import { table } from "../../show/table.ts";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { DecisionChoice } from "../../terminal/questions/decision.ts";
import type { FeedView } from "../../terminal/questions/feed-view.ts";

/** The files that a branch changed since a message, and what a rewind cannot restore. */
export type FileComparison = Result<"file.compare">;
type LeftFile = FileComparison["files"][number];

export interface LeaveOptions {
  readonly terminal: Terminal;
  readonly view: FeedView;
  /** Restores these files. */
  rewind(paths: readonly string[]): Promise<Pick<Result<"file.rewind">, "changes" | "problems">>;
}

/** The user's decision: to go to the message, or to stay. */
export type Departure = "leave" | "stay";

/**
 * Shows the files that changed since a message to a user who goes back to this message. Asks whether to restore the
 * files, too (T29, E11). Restores no file without a choice. Files that others changed stay, unless the user chooses
 * them. Without a choice, the user stays on the branch.
 */
export async function leaveFiles(
  comparison: FileComparison,
  { terminal, view, rewind }: LeaveOptions,
): Promise<Departure> {
  const { style } = terminal;
  const files = comparison.files.filter(isFile);
  const [, ...body] = changedFileLines(files.map((file) => ({ ...file, note: noteOn(file) })));
  const others = files.filter(({ by, canRestore }) => by !== "agent" && canRestore);
  for (let again = false; ; again = true) {
    const decided = await terminal.decide({
      title: `The branch that you leave has ${counted(files.length, "changed file")}`,
      body: [...body, ...leftOutLines(comparison), ...processLines(comparison)],
      question: "What should happen to these files?",
      choices: [KEEP, REVERT, FILES, ...(others.length > 0 ? [EACH] : []), DIFF],
      again,
    });
    if (!decided) return "stay";
    if (decided.key === KEEP.key) return "leave";
    if (decided.key === DIFF.key) {
      for (const file of files)
        for (const line of [changeHead(file, style), ...diffLines(file.diff, { style })]) view.line(line);
      continue;
    }
    const chosen = decided.key === EACH.key ? await chosenAmong(others, terminal) : new Set<string>();
    if (!chosen) continue;
    const paths = comparison.files.filter(
      ({ path, by, canRestore }) => canRestore && (by === "agent" || chosen.has(path)),
    );
    const { changes, problems } = await rewind(paths.map(({ path }) => path));
    for (const change of changes.filter(isFile)) view.line(`Restored: ${changeHead(change, style)}`);
    for (const problem of problems) view.say(`${style.bad("Not restored:")} ${plainLine(problem)}`);
    if (changes.length > 0) view.line(style.dim("/undo rewind brings the changes back."));
    return decided.key === FILES.key ? "stay" : "leave";
  }
}

/** Asks about each file that others changed too. Undefined without an answer. */
async function chosenAmong(files: readonly LeftFile[], terminal: Terminal): Promise<ReadonlySet<string> | undefined> {
  const chosen = new Set<string>();
  for (const file of files) {
    const decided = await terminal.decide({
      title: `${plainLine(file.path)} was ${file.by === "both" ? "also " : ""}changed by others`,
      body: diffLines(file.diff, { style: terminal.style, most: SHOWN }),
      question: "Restore this file, and lose these changes?",
      choices: [YES, NO],
    });
    if (!decided) return undefined;
    if (decided.key === YES.key) chosen.add(file.path);
  }
  return chosen;
}

/** Folders have no lines to show: their files are listed. */
function isFile({ mode }: Pick<LeftFile, "mode">): boolean {
  return !(mode?.before?.startsWith("04") || mode?.after?.startsWith("04"));
}

function noteOn({ by, canRestore }: LeftFile): string {
  if (!canRestore) return "cannot be restored";
  if (by === "agent") return "";
  return by === "both" ? "also changed by others: stays" : "changed by others: stays";
}

const WHY: Readonly<Record<FileComparison["leftOut"][number]["why"], string>> = {
  cache: "other files rebuild it",
  large: "too large",
  ignored: "ignored by git, and these files are too large together",
  full: "the store is full",
  special: "no regular file",
  unreadable: "unreadable",
  name: "its name is no text",
};

/** Lists the parts of the workspace that no rewind restores. */
function leftOutLines({ leftOut }: FileComparison): string[] {
  if (leftOut.length === 0) return [];
  const rows = leftOut
    .slice(0, LISTED)
    .map(({ path, why, size }) => [
      plainLine(path),
      size === undefined ? "" : `${Math.ceil(size / 1024).toLocaleString("en")} KiB`,
      WHY[why],
    ]);
  const more = leftOut.length > LISTED ? [`  … and ${counted(leftOut.length - LISTED, "more path")}`] : [];
  return [
    "These files are not restored, because no snapshot contains them:",
    ...table(rows).map((line) => `  ${line}`),
    ...more,
  ];
}

function processLines({ processes }: FileComparison): string[] {
  return processes === 0
    ? []
    : [`${counted(processes, "background command")} will be stopped before files are restored.`];
}

const SHOWN = 40;
const LISTED = 8;
const KEEP: DecisionChoice = { key: "k", text: "Keep the files as they are", brief: "keep" };
const REVERT: DecisionChoice = {
  key: "r",
  text: "Restore the files to their state at the chosen message",
  brief: "restore",
};
const FILES: DecisionChoice = {
  key: "f",
  text: "Stay on this branch, and only restore the files",
  brief: "only files",
};
const EACH: DecisionChoice = {
  key: "e",
  text: "Restore, and decide about each file that others changed",
  brief: "choose",
};
const DIFF: DecisionChoice = { key: "d", text: "Show what changed", brief: "show" };
const YES: DecisionChoice = { key: "y", text: "Yes, restore it", brief: "yes" };
const NO: DecisionChoice = { key: "n", text: "No, keep it", brief: "no" };

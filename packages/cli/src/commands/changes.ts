import type { ViewStep } from "@banyan/client/actions";
import { changersText } from "@banyan/client/words";
import type { FileChange } from "@banyan/core/conversation";
import { changedFiles, undoableCalls } from "@banyan/host";
import { type Result, rightFor } from "@banyan/protocol";
import { changedFileLines, changedFileNamed, changeHead, diffLines } from "../show/diff-lines.ts";
import { excerptLine } from "../show/fit-text.ts";
import { plainLine } from "../show/plain-text.ts";
import type { Style } from "../show/style.ts";
import type { ConversationContext } from "./command.ts";

type ChangesStep = Extract<ViewStep, { readonly view: "changes" }>;

const SINCE: Readonly<Record<ChangesStep["since"], string>> = {
  turn: "since the last turn that changed files began",
  conversation: "since this conversation began",
  git: "since git's last commit",
};

/** Lists the files that differ from an earlier state, whoever changed them, or shows the change of one file (T66). */
export async function showChanges(context: ConversationContext, { since, text }: ChangesStep): Promise<void> {
  const { leaf, write, screen, state, agent } = context;
  const { style } = screen;
  if (leaf === null && since === "git") return write("/changes git works after the first message of a conversation.");
  const comparison = leaf === null || !mayCompare(context) ? undefined : await compare(context, leaf, since);
  // Without snapshots, only the log knows changes: those by tools.
  if (since !== "git" && comparison?.asOf === undefined) return showLoggedChanges(context, text);
  const files = comparison?.files.filter(({ entry }) => entry !== "folder") ?? [];
  const named = text === "" ? undefined : changedFileNamed(files, text);
  const only = named ?? (text === "" && files.length === 1 ? files[0] : undefined);
  if (only) {
    write(`${changeHead(only, style)}, by ${changersText(only.changers, state, agent)}`);
    return write(...diffLines(only.diff, { style }));
  }
  if (text !== "") return write(`${plainLine(text)} has not changed ${SINCE[since]}.`);
  if (files.length === 0) return write(`No file has changed ${SINCE[since]}.`);
  const listed = files.map((file) => ({ ...file, note: changersText(file.changers, state, agent) }));
  write(...changedFileLines(listed, { since: SINCE[since] }));
  const more = since === "conversation" ? "turn or /changes git has another beginning" : "PATH shows the diff";
  write(style.dim(`/changes ${more}. /undo takes back the last turn.`));
}

/** A user who may only watch, and a host without files, have no comparison. */
function mayCompare({ user: { rights, without } }: ConversationContext): boolean {
  return rights.includes(rightFor("file.compare")) && !without?.includes("file.compare");
}

async function compare(
  { ask }: ConversationContext,
  leaf: string,
  since: ChangesStep["since"],
): Promise<Result<"file.compare">> {
  const input = { leaf, ...(since === "turn" && { turn: true }), ...(since === "git" && { git: true }) };
  return (await ask({ command: "file.compare", input, isHere: true })) as Result<"file.compare">;
}

/** Lists the files that tools changed on this branch, or the changes of one file. */
function showLoggedChanges({ state, leaf, write, screen: { style } }: ConversationContext, argument: string): void {
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

/** Formats undone changes of files with their lines. */
export function undoneLines(changes: readonly FileChange[], style: Style): string[] {
  return changes.flatMap((change) => [
    `Undone: ${changeHead(change, style)}`,
    ...diffLines(change.diff, { style, most: SHOWN }),
  ]);
}

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
  write(...undoneLines(changes, style));
  for (const problem of problems) write(`${style.bad("Not undone:")} ${plainLine(problem)}`);
  if (changes.length > 0) write(style.dim("Your next message also tells the agent about the undone changes."));
}

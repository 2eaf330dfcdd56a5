import { visibleLine } from "@banyan/core/shown";
import { type CallChanges, type RestorationResult, reliesOnForeignLog } from "@banyan/host";
import type { Terminal } from "../../terminal/contract/terminal.ts";
import type { DecisionChoice } from "../../terminal/questions/decision.ts";
import type { TalkSession } from "../session/talk-session.ts";
import type { Standpoint } from "../user/standpoint.ts";

export interface UndoContext {
  readonly terminal: Terminal;
  readonly standpoint: Standpoint;
  readonly workspace: string;
  open(): Promise<TalkSession>;
}

/** Undoes the file changes of a call. Asks the user first if the call ran on another machine (S17). */
export async function undoAfterQuestion(
  call: CallChanges,
  { terminal, standpoint, workspace, open }: UndoContext,
): Promise<RestorationResult> {
  const { below } = standpoint;
  const session = await open();
  if (below === null) return { changes: [], problems: [] };
  const agreed = reliesOnForeignLog(session.state, [call.call]);
  if (agreed && !(await isWanted(terminal, call, workspace))) return { changes: [], problems: [] };
  const taken = await session.undo(call.call, below, agreed);
  standpoint.wrote(taken.message);
  return taken;
}

async function isWanted(terminal: Terminal, { changes }: CallChanges, workspace: string): Promise<boolean> {
  const worktree = changes[0]?.worktree;
  const place = worktree === undefined ? visibleLine(workspace) : `the worktree ${visibleLine(worktree)}`;
  const decided = await terminal.decide({
    title:
      "This conversation was imported. Undo writes the file contents from the import, which may differ from your files",
    body: changes.map(({ path, before }) => visibleLine(before === null ? `${path}: will be deleted` : path)),
    question: `Restore these files in ${place}?`,
    choices: AGREE,
  });
  return decided?.key === "y";
}

const AGREE: readonly DecisionChoice[] = [
  { key: "y", text: "Yes, restore it", brief: "yes" },
  { key: "n", text: "No" },
];

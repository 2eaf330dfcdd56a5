import type { ConversationState, Session } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import { undoneReport } from "@banyan/core/shown";
import {
  type ChangedFile,
  changedFiles,
  changedMode,
  openWorkspace,
  revertFile,
  undoChange,
  type Workspace,
  WorkspaceError,
} from "@banyan/tools/workspace";
import { ownCommand } from "../programs/own-command.ts";
import type { Redact } from "../redaction/redactor.ts";
import { WorktreeError } from "../worktrees/error.ts";

/** The folders of a conversation's files, and their previous contents. */
export interface ChangesContext {
  /** `worktree`: its name; absent: the workspace. Rejects with a `WorktreeError`. */
  folderOf(worktree: string | undefined): Promise<string>;
  readonly backups: string;
  readonly redact: Redact;
  /** True if the user agreed to restore contents from the log of another machine (S17). */
  readonly agreed?: boolean;
}

/** Returns whether an undo of these calls would restore file contents from a log that another machine wrote. */
export function reliesOnForeignLog({ writtenElsewhere }: ConversationState, calls: readonly string[]): boolean {
  return calls.some((call) => writtenElsewhere.has(call));
}

/** File changes of a tool call that are not undone yet. */
export interface CallChanges {
  readonly call: string;
  readonly changes: readonly (Pick<FileChange, "path" | "before" | "after" | "mode"> & Pick<ChangedFile, "worktree">)[];
}

/** The result of an undo. */
export interface RestorationResult {
  /** The changes that the undo made, in order. */
  readonly changes: readonly FileChange[];
  /** One sentence for each file that stays unchanged, with the reason. */
  readonly problems: readonly string[];
  /** The id of the message that informs the model. Absent if nothing was undone. */
  readonly message?: string;
}

/**
 * Returns the calls whose changes can be undone, the newest first. With `leaf`: the calls on this branch. Without it:
 * the calls on all branches.
 */
export function undoableCalls(state: ConversationState, leaf?: string): CallChanges[] {
  const byCall = new Map<string, CallChanges["changes"][number][]>();
  for (const { path, worktree, changes } of changedFiles(state, leaf)) {
    const inWorktree = worktree === undefined ? {} : { worktree };
    for (const [call, own] of Map.groupBy(changes, (change) => change.call)) {
      const [before = null, after = null] = [own[0]?.before, own.at(-1)?.after];
      const mode = changedMode(own);
      if (before === after && !mode) continue;
      byCall.set(call, [...(byCall.get(call) ?? []), { path, ...inWorktree, before, after, ...mode }]);
    }
  }
  const newest = [...state.calls.keys()].reverse();
  return newest
    .flatMap((call) => ({ call, changes: byCall.get(call) ?? [] }))
    .filter(({ changes }) => changes.length > 0);
}

/**
 * Restores the files of one call, except files that have changed since. Logs each restored file as a change of the
 * call. Adds a message for the agent below `leaf` (`null`: the root). Rejects with `SessionError`.
 */
export async function undoCall(
  session: Session,
  context: ChangesContext,
  { leaf, call, changes }: CallChanges & { readonly leaf: string | null },
): Promise<RestorationResult> {
  const taken = await takeBack(session, context, changes, (change) => ({
    calls: [call],
    path: change.path,
    worktree: change.worktree,
    done: (workspace) => undoChange(workspace, context.backups, change, context.redact.watch),
  }));
  return recordRestoration(session, leaf, taken);
}

/** Restores all files that a conversation or branch changed. Adds no message for the agent. */
export function revertFiles(
  session: Session,
  context: ChangesContext,
  files: readonly ChangedFile[],
): Promise<RestorationResult> {
  return takeBack(session, context, files, (file) => ({
    calls: file.changes.map(({ call }) => call),
    path: file.path,
    worktree: file.worktree,
    done: (workspace) => revertFile(workspace, context.backups, file, context.redact.watch),
  }));
}

async function recordRestoration(
  session: Session,
  leaf: string | null,
  taken: RestorationResult,
): Promise<RestorationResult> {
  if (taken.changes.length === 0) return taken;
  return { ...taken, message: await addRestorationMessage(session, leaf, taken.changes) };
}

/**
 * Adds a message about undone changes as a child of `parentId` (`null`: the root). Adds only one message for each `id`.
 * Returns the id of the message. Rejects with `SessionError`.
 */
export function addRestorationMessage(
  session: Session,
  parentId: string | null,
  changes: RestorationResult["changes"],
  id?: string,
): Promise<string> {
  const files = changes.map(
    ({ path, kind, before, after }) => `${path} ${before === after ? "has its previous mode again" : NOW[kind]}`,
  );
  return session.add(undoneReport(files), { at: parentId, author: "system", ...(id !== undefined && { id }) });
}

const NOW: Readonly<Record<FileChange["kind"], string>> = {
  created: "is there again",
  changed: "has its previous content again",
  deleted: "is not there any more",
};

/** The undo is logged as a change of the last of the calls. */
interface FileRestoration {
  readonly calls: readonly string[];
  readonly path: string;
  readonly worktree: string | undefined;
  done(workspace: Workspace): Promise<FileChange>;
}

const RESTORERS = `/undo in a terminal, or ${ownCommand("changes revert")}`;

async function takeBack<Item>(
  session: Session,
  context: ChangesContext,
  items: readonly Item[],
  begin: (item: Item) => FileRestoration,
): Promise<RestorationResult> {
  const changes: FileChange[] = [];
  const problems: string[] = [];
  for (const item of items) {
    const { calls, path, worktree, done } = begin(item);
    const call = calls.at(-1) ?? "";
    if (!context.agreed && reliesOnForeignLog(session.state, calls)) {
      problems.push(
        `${path} was changed on another machine before this conversation was imported. To restore the file, use ${RESTORERS}.`,
      );
      continue;
    }
    try {
      const made = await done(openWorkspace(await context.folderOf(worktree)));
      const change = { ...made, diff: context.redact(made.diff) };
      await session.notes.fileChange(call, change);
      changes.push(change);
    } catch (error) {
      if (!(error instanceof WorkspaceError || error instanceof WorktreeError)) throw error;
      problems.push(error.message);
    }
  }
  return { changes, problems };
}

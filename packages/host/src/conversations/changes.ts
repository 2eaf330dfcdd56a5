import type { ConversationState, Session } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import {
  type ChangedFile,
  changesOf,
  modeOf,
  openWorkspace,
  revertFile,
  undoChange,
  type Workspace,
  WorkspaceError,
} from "@banyan/tools/workspace";
import { ownCommand } from "../programs/own-command.ts";
import type { Redact } from "../redaction/redactor.ts";
import { WorktreeError } from "../worktrees/error.ts";

/** Where the files of a conversation are, and where their previous content is kept. */
export interface ChangesPlace {
  /** The folder of its workspace, or of the worktree of this name. Rejects with a `WorktreeError`. */
  folderOf(worktree: string | undefined): Promise<string>;
  readonly backups: string;
  /** Takes secrets out of what is logged of a change (S10, S22). */
  readonly redact: Redact;
  /** A person was asked, and wants back what a log from elsewhere calls the previous content too (S17). */
  readonly agreed?: boolean;
}

/** Whether taking back what these calls did rests on a log that was written elsewhere. */
export function wasElsewhere({ writtenElsewhere }: ConversationState, calls: readonly string[]): boolean {
  return calls.some((call) => writtenElsewhere.has(call));
}

/** What one call did to files and nobody has taken back. */
export interface CallChanges {
  readonly call: string;
  readonly changes: readonly (Pick<FileChange, "path" | "before" | "after" | "mode"> & Pick<ChangedFile, "worktree">)[];
}

/** What became of files that somebody wanted as they were. */
export interface TakenBack {
  /** What was done, in order. */
  readonly changes: readonly FileChange[];
  /** Why a file stays as it is, one sentence each. */
  readonly problems: readonly string[];
  /** The message that says to the model what was done; absent when nothing was. */
  readonly message?: string;
}

/** The calls of a branch that changed files and could be undone, the newest first; of all branches without a `leaf`. */
export function undoableCalls(state: ConversationState, leaf?: string): CallChanges[] {
  const byCall = new Map<string, CallChanges["changes"][number][]>();
  for (const { path, worktree, changes } of changesOf(state, leaf)) {
    const place = worktree === undefined ? {} : { worktree };
    for (const [call, own] of Map.groupBy(changes, (change) => change.call)) {
      const [before = null, after = null] = [own[0]?.before, own.at(-1)?.after];
      const mode = modeOf(own);
      if (before === after && !mode) continue;
      byCall.set(call, [...(byCall.get(call) ?? []), { path, ...place, before, after, ...mode }]);
    }
  }
  const newest = [...state.calls.keys()].reverse();
  return newest
    .flatMap((call) => ({ call, changes: byCall.get(call) ?? [] }))
    .filter(({ changes }) => changes.length > 0);
}

/**
 * Puts files back to what they were before a call changed them; each that is done is in the log, as a change of that
 * call. A file that something else has changed since stays as it is. Whoever goes on below `leaf`, the root for `null`,
 * finds an agent that is told so. Rejects with `SessionError`.
 */
export async function undoCall(
  session: Session,
  place: ChangesPlace,
  { leaf, call, changes }: CallChanges & { readonly leaf: string | null },
): Promise<TakenBack> {
  const taken = await takeBack(session, place, changes, (change) => ({
    calls: [call],
    path: change.path,
    worktree: change.worktree,
    done: (workspace) => undoChange(workspace, place.backups, change, place.redact.watch),
  }));
  return told(session, leaf, taken);
}

/**
 * The same for everything that a conversation, or one of its branches, did to files, without a word to the agent. Each is
 * noted as a change of the call that changed the file last.
 */
export function revertFiles(session: Session, place: ChangesPlace, files: readonly ChangedFile[]): Promise<TakenBack> {
  return takeBack(session, place, files, (file) => ({
    calls: file.changes.map(({ call }) => call),
    path: file.path,
    worktree: file.worktree,
    done: (workspace) => revertFile(workspace, place.backups, file, place.redact.watch),
  }));
}

/** The same for a branch that a person leaves, down to `leaf`: whoever comes back to it finds an agent that is told so. */
export async function revertBranch(
  session: Session,
  place: ChangesPlace,
  { leaf, files }: { readonly leaf: string; readonly files: readonly ChangedFile[] },
): Promise<TakenBack> {
  return told(session, leaf, await revertFiles(session, place, files));
}

async function told(session: Session, leaf: string | null, taken: TakenBack): Promise<TakenBack> {
  if (taken.changes.length === 0) return taken;
  return { ...taken, message: await tellTakenBack(session, leaf, taken.changes) };
}

/**
 * Adds a message that says what was taken back, below a message (`null`: at the root): the model believes that it is done,
 * and hears of this with what is said next. Returns the new message. Rejects with `SessionError`.
 */
export function tellTakenBack(
  session: Session,
  parentId: string | null,
  changes: TakenBack["changes"],
): Promise<string> {
  const files = changes
    .map(({ path, kind, before, after }) => `- ${path} ${before === after ? "has its previous mode again" : NOW[kind]}`)
    .join("\n");
  const text = `The person has taken back changes that were made to files. They are again as they were before:\n${files}`;
  return session.add(text, { at: parentId, author: "system" });
}

/** What taking a change back did to the file. */
const NOW: Readonly<Record<FileChange["kind"], string>> = {
  created: "is there again",
  changed: "has its previous content again",
  deleted: "is not there any more",
};

/** A file that is to be as it was before its calls, the last of which will be said to have done it. */
interface Taking {
  readonly calls: readonly string[];
  readonly path: string;
  readonly worktree: string | undefined;
  done(workspace: Workspace): Promise<FileChange>;
}

const ASKS = `/undo in a terminal, or ${ownCommand("changes revert")}, asks`;

async function takeBack<Item>(
  session: Session,
  place: ChangesPlace,
  items: readonly Item[],
  begin: (item: Item) => Taking,
): Promise<TakenBack> {
  const changes: FileChange[] = [];
  const problems: string[] = [];
  for (const item of items) {
    const { calls, path, worktree, done } = begin(item);
    const call = calls.at(-1) ?? "";
    if (!place.agreed && wasElsewhere(session.state, calls)) {
      problems.push(`${path} was changed elsewhere, before this conversation was brought in: ${ASKS} about it first.`);
      continue;
    }
    try {
      const made = await done(openWorkspace(await place.folderOf(worktree)));
      const change = { ...made, diff: place.redact(made.diff) };
      await session.noteChange(call, change);
      changes.push(change);
    } catch (error) {
      if (!(error instanceof WorkspaceError || error instanceof WorktreeError)) throw error;
      problems.push(error.message);
    }
  }
  return { changes, problems };
}

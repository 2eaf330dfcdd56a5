import { type ConversationState, type Message, pathTo } from "@banyan/core";
import { type FileChange, worktreeAt } from "@banyan/core/conversation";

/** A file that a conversation has changed, from what it was first to what it is now. */
export interface ChangedFile {
  /** Relative to the workspace, or to the same folder of the worktree. */
  readonly path: string;
  /** The name of the worktree that the file is in; absent in the workspace. */
  readonly worktree?: string;
  readonly kind: FileChange["kind"];
  /** The digest of what it was before the first change; `null` if it was not there. */
  readonly before: string | null;
  /** The digest of what the last change left; `null` if it is not there any more. */
  readonly after: string | null;
  /** The modes before the first change of the mode and after the last one; absent when the mode is the same. */
  readonly mode?: FileChange["mode"];
  /** Lines, of all changes. */
  readonly added: number;
  readonly removed: number;
  /** Each change, with the call that made it; first things first. */
  readonly changes: readonly ChangeOfCall[];
}

type ChangeOfCall = FileChange & { readonly call: string; readonly worktree?: string };

/**
 * The files that the branch down to `leaf` has changed, or all of the conversation without one, its sub-agents included; in
 * the order of their first change. What was undone, or created and removed again, is left out; with `beside`, so is what
 * was changed on the way that the branch has in common with the one down to there.
 */
export function changesOf(state: ConversationState, leaf?: string, beside: string | null = null): ChangedFile[] {
  const found = messagesOf(state, leaf, beside).flatMap((message) => changesIn(state, message));
  const byPlace = Map.groupBy(found, ({ path, worktree }) => (worktree === undefined ? path : `${path}\0${worktree}`));
  return [...byPlace.values()].flatMap((ofFile) => {
    const changes = inOrder(ofFile);
    const [{ path, worktree }] = ofFile as [ChangeOfCall];
    const before = changes[0]?.before ?? null;
    const after = changes.at(-1)?.after ?? null;
    const mode = modeOf(changes);
    if (before === after && !mode) return [];
    const kind = before === null ? "created" : after === null ? "deleted" : "changed";
    const sum = (of: "added" | "removed") => changes.reduce((total, change) => total + change[of], 0);
    const place = worktree === undefined ? {} : { worktree };
    return [{ path, ...place, kind, before, after, ...mode, added: sum("added"), removed: sum("removed"), changes }];
  });
}

/** The mode that changes of one file began with, and the mode that they left; nothing when these are the same. */
export function modeOf(changes: readonly Pick<FileChange, "mode">[]): Pick<FileChange, "mode"> | undefined {
  const modes = changes.flatMap(({ mode }) => mode ?? []);
  const [before = null, after = null] = [modes[0]?.before, modes.at(-1)?.after];
  return before === after ? undefined : { mode: { before, after } };
}

/** The messages of a branch, with those of the sub-agents that it launched, in the order of their creation. */
function messagesOf(state: ConversationState, leaf: string | undefined, beside: string | null): Message[] {
  if (leaf === undefined) return [...state.messages.values()];
  const own = new Set(pathTo(state, leaf)).difference(new Set(pathTo(state, beside)));
  const calls = new Set<string>();
  const found: Message[] = [];
  for (const message of state.messages.values()) {
    if (!own.has(message) && !(message.call !== undefined && calls.has(message.call))) continue;
    found.push(message);
    if (message.role === "assistant") for (const { id } of message.calls) calls.add(id);
  }
  return found;
}

function changesIn(state: ConversationState, message: Message): ChangedFile["changes"] {
  if (message.role !== "assistant" || !message.calls.some(({ changes }) => changes)) return [];
  const worktree = worktreeAt(state, message.id);
  const place = worktree === undefined ? {} : { worktree };
  return message.calls.flatMap(({ id, changes = [] }) => changes.map((change) => ({ ...change, call: id, ...place })));
}

/** Branches work side by side, so the order of their messages is not that of their changes: what one left, the next one found. */
function inOrder(changes: ChangedFile["changes"]): ChangedFile["changes"] {
  const left = [...changes];
  const ordered = left.splice(0, 1);
  while (left.length > 0) {
    const next = left.findIndex(({ before }) => before === ordered.at(-1)?.after);
    ordered.push(...left.splice(Math.max(next, 0), 1));
  }
  return ordered;
}

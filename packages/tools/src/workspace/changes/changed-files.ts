import { type ConversationState, type Message, pathTo } from "@banyan/core";
import { type FileChange, worktreeAt } from "@banyan/core/conversation";

/** A file that a conversation changed, with its first and last state. See {@link changedFiles}. */
export interface ChangedFile {
  /** The path, relative to the workspace or to the same folder of the worktree. */
  readonly path: string;
  /** The name of the file's worktree; absent in the workspace. */
  readonly worktree?: string;
  readonly kind: FileChange["kind"];
  /** The digest before the first change; `null`: no file. */
  readonly before: string | null;
  /** The digest after the last change; `null`: no file. */
  readonly after: string | null;
  /** The modes before the first and after the last change of the mode; absent if both are the same. */
  readonly mode?: FileChange["mode"];
  /** Added and removed lines of all changes. */
  readonly added: number;
  readonly removed: number;
  /** The changes in order, each with the id of its call. */
  readonly changes: readonly ChangeOfCall[];
}

type ChangeOfCall = FileChange & { readonly call: string; readonly worktree?: string };

/**
 * Returns the files that the branch down to `leaf` and its sub-agents changed, in the order of their first change.
 * Without `leaf`, returns the files that the whole conversation changed. Leaves out files whose last state equals the
 * first. With `beside`, leaves out changes on the path that both branches share.
 * @example for (const { path, kind, added } of changedFiles(session.state)) console.log(path, kind, `+${added}`);
 */
export function changedFiles(state: ConversationState, leaf?: string, beside: string | null = null): ChangedFile[] {
  const found = branchMessages(state, leaf, beside).flatMap((message) => changesInMessage(state, message));
  const byPlace = Map.groupBy(found, ({ path, worktree }) => (worktree === undefined ? path : `${path}\0${worktree}`));
  return [...byPlace.values()].flatMap((ofFile) => {
    const changes = inOrder(ofFile);
    const [{ path, worktree }] = ofFile as [ChangeOfCall];
    const before = changes[0]?.before ?? null;
    const after = changes.at(-1)?.after ?? null;
    const mode = changedMode(changes);
    if (before === after && !mode) return [];
    const kind = before === null ? "created" : after === null ? "deleted" : "changed";
    const sum = (of: "added" | "removed") => changes.reduce((total, change) => total + change[of], 0);
    const place = worktree === undefined ? {} : { worktree };
    return [{ path, ...place, kind, before, after, ...mode, added: sum("added"), removed: sum("removed"), changes }];
  });
}

/**
 * Returns the first and the last mode of several changes. Undefined if both are the same, and if the file is again as
 * it was: not all changes that create or delete a file have a mode.
 * @example
 * const change = { before: "a", after: "a", mode: { before: "100644", after: "100755" } };
 * changedMode([change]) // { mode: { before: "100644", after: "100755" } }
 */
export function changedMode(
  changes: readonly Pick<FileChange, "mode" | "before" | "after">[],
): Pick<FileChange, "mode"> | undefined {
  const modes = changes.flatMap(({ mode }) => mode ?? []);
  const [before = null, after = null] = [modes[0]?.before, modes.at(-1)?.after];
  const isAsBefore = changes[0]?.before === changes.at(-1)?.after && (before === null || after === null);
  return before === after || isAsBefore ? undefined : { mode: { before, after } };
}

function branchMessages(state: ConversationState, leaf: string | undefined, beside: string | null): Message[] {
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

function changesInMessage(state: ConversationState, message: Message): ChangedFile["changes"] {
  if (message.role !== "assistant" || !message.calls.some(({ changes }) => changes)) return [];
  const worktree = worktreeAt(state, message.id);
  const place = worktree === undefined ? {} : { worktree };
  return message.calls.flatMap(({ id, changes = [] }) => changes.map((change) => ({ ...change, call: id, ...place })));
}

/** Sorts changes so that each change starts from the result of the previous change. Parallel branches mix their messages. */
function inOrder(changes: ChangedFile["changes"]): ChangedFile["changes"] {
  const left = [...changes];
  const ordered = left.splice(0, 1);
  while (left.length > 0) {
    const next = left.findIndex(({ before }) => before === ordered.at(-1)?.after);
    ordered.push(...left.splice(Math.max(next, 0), 1));
  }
  return ordered;
}

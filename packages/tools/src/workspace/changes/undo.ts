import type { FileChange } from "@banyan/core/conversation";
import { contentDigest, keepBackup, keptContent } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import type { KeyWatch } from "../files/key-file.ts";
import { locate, type Workspace } from "../files/paths.ts";
import type { ChangedFile } from "./changed-files.ts";
import { fileChange, fileContent } from "./file-change.ts";
import { entryAt, isLink, locateEntry, putEntry } from "./file-entry.ts";

/**
 * Undoes a change of a file or a link. Restores the exact content, and the mode if the change recorded one. Removes a
 * created file, and restores a deleted one. The current content is kept in `backups`. Returns the change that this undo
 * made; that change can also be undone. `watch` gets both whole contents, because the returned diff shows only parts of
 * them. Throws a `WorkspaceError` and changes nothing: `changed` if the file is not in the state after the change,
 * `missing` if the previous content is no longer kept, and the errors of the tool `write`.
 * @example for (const change of toolCall.changes ?? []) await undoChange(workspace, "/home/me/backups", change);
 */
export async function undoChange(
  workspace: Workspace,
  backups: string,
  change: Pick<FileChange, "path" | "before" | "after" | "mode">,
  watch?: KeyWatch,
): Promise<FileChange> {
  const { before, after, mode } = change;
  const hadLink = [mode?.before, mode?.after].some((each) => each != null && isLink({ mode: each }));
  // Only a change of a link concerns the link itself.
  const location = await (hadLink ? locateEntry : locate)(workspace, change.path);
  const now = await entryAt(workspace, location);
  const isAsLeft =
    (now ? contentDigest(now.content) : null) === after &&
    (now === undefined || isLink(now) === isLink({ mode: mode?.after ?? "" })) &&
    (!mode?.before || !mode.after || now?.mode === mode.after);
  if (!isAsLeft || (now === undefined && before === null)) throw notAsLeft(location.path);
  const bytes = before === null ? undefined : await keptContent(backups, before);
  const previous = bytes && { content: bytes, ...(mode?.before && { mode: mode.before }) };
  if (now) await keepBackup(backups, [now.content]);
  await putEntry(workspace, location, previous, now);
  for (const content of [now?.content, bytes]) watch?.()(content?.toString("latin1") ?? "");
  return fileChange(location.path, now && fileContent(now.content), bytes && fileContent(bytes), {
    mode: mode && { before: mode.after, after: mode.before },
  });
}

/**
 * Undoes all changes that a branch or a conversation made to a file. Throws like `undoChange`. Also throws `changed` if
 * another program changed the file in between, because that change would be lost.
 * @example for (const file of changedFiles(session.state)) await revertFile(workspace, "/home/me/backups", file);
 */
export async function revertFile(
  workspace: Workspace,
  backups: string,
  file: ChangedFile,
  watch?: KeyWatch,
): Promise<FileChange> {
  const gap = file.changes.find(({ before }, index) => index > 0 && before !== file.changes[index - 1]?.after);
  if (gap) {
    throw new WorkspaceError(
      "changed",
      `${file.path} was changed by another program between the changes of this conversation, so these changes cannot be undone together. Undo the latest changes one by one.`,
    );
  }
  return undoChange(workspace, backups, file, watch);
}

function notAsLeft(path: string): WorkspaceError {
  return new WorkspaceError(
    "changed",
    `${path} was changed again afterwards, so the change was not undone. Check the file, and edit it by hand.`,
  );
}

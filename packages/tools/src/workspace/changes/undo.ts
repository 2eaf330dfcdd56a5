import type { FileChange } from "@banyan/core/conversation";
import { keepContent, keptContent } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import type { Watch } from "../files/key-file.ts";
import { openFile } from "../files/open-path.ts";
import { locate, type Workspace } from "../files/paths.ts";
import type { ChangedFile } from "./changed-files.ts";
import { contentOf, fileChange } from "./file-change.ts";
import { removeFile, replaceFile } from "./replace-file.ts";

/**
 * Takes a change of a file back: puts back what was there before, byte for byte and with the mode that it has; removes a
 * file that the change created; brings back one that it deleted. What is there now is kept in `backups` too, and the
 * answer is the change that this made, so that it can be taken back in turn.
 *
 * `watch` is told of both contents, of which the diff shows a part. Throws a `WorkspaceError`, and changes nothing: `changed` when the file is not what the change left, `missing` when the
 * previous content is not kept any more, and as `write` does.
 */
export async function undoChange(
  workspace: Workspace,
  backups: string,
  change: Pick<FileChange, "path" | "before" | "after">,
  watch?: Watch,
): Promise<FileChange> {
  const location = await locate(workspace, change.path);
  const { path } = location;
  if (location.kind === "missing") {
    if (change.after !== null || change.before === null) throw notAsLeft(path);
    const bytes = await keptContent(backups, change.before);
    await replaceFile(workspace, location, bytes);
    watch?.()(bytes.toString("latin1"));
    return fileChange(path, undefined, contentOf(bytes));
  }
  await using file = await openFile(workspace, path);
  const bytes = await file.handle.readFile();
  const now = contentOf(bytes);
  if (now.digest !== change.after) throw notAsLeft(path);
  const before = change.before === null ? undefined : await keptContent(backups, change.before);
  await keepContent(backups, [bytes]);
  if (before) await replaceFile(workspace, location, before, file.stats);
  else await removeFile(workspace, location, file.stats);
  for (const content of [bytes, before]) watch?.()(content?.toString("latin1") ?? "");
  return fileChange(path, now, before && contentOf(before));
}

/**
 * Takes all changes of a file back that a branch or a conversation made. Throws like `undoChange`; also `changed` when
 * something else changed the file between two of them, as that would be lost.
 */
export async function revertFile(
  workspace: Workspace,
  backups: string,
  file: ChangedFile,
  watch?: Watch,
): Promise<FileChange> {
  const gap = file.changes.find(({ before }, index) => index > 0 && before !== file.changes[index - 1]?.after);
  if (gap) {
    throw new WorkspaceError(
      "changed",
      `${file.path} was changed by something else between the changes of this conversation, so they cannot be taken back together. Undo the last ones one by one.`,
    );
  }
  return undoChange(workspace, backups, file, watch);
}

function notAsLeft(path: string): WorkspaceError {
  return new WorkspaceError(
    "changed",
    `${path} is not what the change left, so the change was not undone. Look at the file, and change it by hand.`,
  );
}

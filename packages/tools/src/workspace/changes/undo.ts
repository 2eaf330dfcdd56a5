import type { FileChange } from "@banyan/core/conversation";
import { digestOf, keepContent, keptContent } from "../files/backups.ts";
import { WorkspaceError } from "../files/error.ts";
import type { Watch } from "../files/key-file.ts";
import { locate, type Workspace } from "../files/paths.ts";
import type { ChangedFile } from "./changed-files.ts";
import { contentOf, fileChange } from "./file-change.ts";
import { entryAt, isLink, locateEntry, putEntry } from "./file-entry.ts";

/**
 * Takes a change of a file or a link back: puts back the content byte for byte, and the mode if the change recorded it; removes a
 * file that the change created; brings back one that it deleted. What is there now is kept in `backups` too, and the
 * answer is the change that this made, so that it can be taken back in turn.
 *
 * `watch` is told of both contents, of which the diff shows a part. Throws a `WorkspaceError`, and changes nothing: `changed` when the file is not what the change left, `missing` when the
 * previous content is not kept any more, and as `write` does.
 */
export async function undoChange(
  workspace: Workspace,
  backups: string,
  change: Pick<FileChange, "path" | "before" | "after" | "mode">,
  watch?: Watch,
): Promise<FileChange> {
  const { before, after, mode } = change;
  const hadLink = [mode?.before, mode?.after].some((each) => each != null && isLink({ mode: each }));
  // Only a change of a link is about the link itself.
  const location = await (hadLink ? locateEntry : locate)(workspace, change.path);
  const now = await entryAt(workspace, location);
  const isAsLeft =
    (now ? digestOf(now.content) : null) === after &&
    (now === undefined || isLink(now) === isLink({ mode: mode?.after ?? "" })) &&
    (!mode?.before || !mode.after || now?.mode === mode.after);
  if (!isAsLeft || (now === undefined && before === null)) throw notAsLeft(location.path);
  const bytes = before === null ? undefined : await keptContent(backups, before);
  const previous = bytes && { content: bytes, ...(mode?.before && { mode: mode.before }) };
  if (now) await keepContent(backups, [now.content]);
  await putEntry(workspace, location, previous, now);
  for (const content of [now?.content, bytes]) watch?.()(content?.toString("latin1") ?? "");
  return fileChange(location.path, now && contentOf(now.content), bytes && contentOf(bytes), {
    mode: mode && { before: mode.after, after: mode.before },
  });
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

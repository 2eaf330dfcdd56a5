import type { Stats } from "node:fs";
import { errorMessage } from "@banyan/core/shown";
import { type ChangeIntent, type IntendedFile, writeIntent } from "../changes/intent.ts";
import { type Replacement, removeFile, replaceWorkspaceFile } from "../changes/replace-file.ts";
import { contentDigest } from "../files/backups.ts";
import type { Location, Workspace } from "../files/paths.ts";
import type { NewContent } from "./new-content.ts";

/** A file whose new content is written to a temporary file. */
export interface PreparedFile {
  readonly content: Pick<NewContent, "location" | "before" | "bytes">;
  /** Cancels the replacement of all files. */
  readonly signal: AbortSignal;
  readonly replacement: Replacement;
}

/**
 * Replaces files one after the other. If a replacement fails or its call is cancelled, restores the replaced files and
 * returns the reason. If the process ends halfway, `settleIntents` restores the files: the change of several files is
 * complete only when its record is removed.
 */
export async function replaceFiles(
  { workspace, backups }: { readonly workspace: Workspace; readonly backups?: string },
  prepared: readonly PreparedFile[],
): Promise<string | undefined> {
  const placed: { readonly content: PreparedFile["content"]; readonly stats: Stats }[] = [];
  await using held = new AsyncDisposableStack();
  let intent: ChangeIntent | undefined;
  try {
    if (backups !== undefined && prepared.length > 1)
      intent = held.use(await writeIntent(workspace, backups, prepared.map(intended)));
    for (const { content, signal, replacement } of prepared) {
      signal.throwIfAborted();
      placed.push({ content, stats: await replacement.takePlace() });
    }
    if (intent) {
      for (const { replacement } of prepared) await replacement.flush();
      await intent.end();
    }
    return undefined;
  } catch (error) {
    const problems: string[] = [];
    for (const { content, stats } of placed.reverse()) {
      try {
        await restorePrevious(workspace, content, stats);
      } catch (problem) {
        problems.push(`${content.location.path} could not be restored: ${errorMessage(problem)}`);
      }
    }
    // If the record cannot be removed, the process that finds it sees the old files.
    await intent?.end().catch(() => {});
    const back = placed.length === 0 ? [] : ["files written before were restored"];
    return [errorMessage(error), ...(problems.length > 0 ? problems : back)].map(withoutFullStop).join("; ");
  }
}

function intended({ content, replacement }: PreparedFile): IntendedFile {
  const { location, before, bytes } = content;
  const { temporary } = replacement;
  return {
    path: location.path,
    before: before ? contentDigest(before.bytes) : null,
    after: contentDigest(bytes),
    temporary,
  };
}

async function restorePrevious(
  workspace: Workspace,
  { location, before }: PreparedFile["content"],
  stats: Stats,
): Promise<void> {
  const here: Location = { ...location, kind: "file" };
  await (before ? replaceWorkspaceFile(workspace, here, before.bytes, stats) : removeFile(workspace, here, stats));
}

/** Removes the final stop of a sentence, so that several reasons can be joined. */
export function withoutFullStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

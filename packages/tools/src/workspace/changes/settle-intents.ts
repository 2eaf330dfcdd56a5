import type { Tool } from "@banyan/core";
import { errorMessage } from "@banyan/core/shown";
import { contentDigest } from "../files/backups.ts";
import { explainPathError, WorkspaceError } from "../files/error.ts";
import { openFile } from "../files/open-path.ts";
import { locate, type Workspace } from "../files/paths.ts";
import { type ChangeIntent, type IntendedFile, intentsIn, takeIntent } from "./intent.ts";
import { removeFile } from "./replace-file.ts";
import { undoChange } from "./undo.ts";

/**
 * If a process ended while it changed several files for one call, undoes the changes that it had made. The
 * conversation's log contains none of these changes, so files and log agree again. A file that another program has
 * changed since then stays as it is. Returns sentences about the results for a user or a model. Failures are retried
 * and reported again the next time.
 * @example for (const sentence of await settleIntents(workspace, "/home/me/backups")) console.error(sentence);
 */
export async function settleIntents(workspace: Workspace, backups: string): Promise<string[]> {
  const sentences: string[] = [];
  for (const file of await intentsIn(workspace, backups)) {
    try {
      await using intent = takeIntent(backups, file);
      if (intent) sentences.push(await settleIntent(workspace, backups, intent));
    } catch (error) {
      sentences.push(`The unfinished file changes listed in ${file} could not be undone: ${errorMessage(error)}.`);
    }
  }
  return sentences;
}

/** Wraps tools so that each call first undoes half-done changes of ended processes. The next tool result contains the report. */
export function settledTools(workspace: Workspace, backups: string, tools: readonly Tool[]): Tool[] {
  let settled: Promise<unknown> = Promise.resolve();
  let last: readonly string[] = [];
  const untold: string[] = [];
  const settleOnce = async () => {
    const sentences = await settleIntents(workspace, backups);
    // Each call retries what could not be undone, but reports a failure once.
    untold.push(...sentences.filter((sentence) => !last.includes(sentence)));
    last = sentences;
  };
  return tools.map((tool) => ({
    ...tool,
    async execute(input, context) {
      // One after the other, so that parallel calls wait until the changes are settled.
      settled = settled.then(settleOnce);
      await settled;
      const answer = await tool.execute(input, context);
      return untold.length === 0 ? answer : `${untold.splice(0).join("\n")}\n\n${answer}`;
    },
  }));
}

async function settleIntent(workspace: Workspace, backups: string, intent: ChangeIntent): Promise<string> {
  const problems: string[] = [];
  let isSettled = true;
  for (const file of intent.files) {
    try {
      await restoreIntended(workspace, backups, file);
    } catch (error) {
      const problem = explainPathError(file.path, error);
      problems.push(problem.message);
      if (!(problem instanceof WorkspaceError) || problem.code === "system" || problem.code === "root")
        isSettled = false;
    }
  }
  if (isSettled) await intent.end();
  const paths = new Intl.ListFormat("en").format(intent.files.map(({ path }) => path));
  const begun = `A process ended while it wrote ${paths} for one message, so these changes were undone`;
  return problems.length === 0 ? `${begun}.` : `${begun}, as far as possible. ${problems.join(" ")}`;
}

async function restoreIntended(
  workspace: Workspace,
  backups: string,
  { path, before, after, temporary }: IntendedFile,
): Promise<void> {
  await removeTemporary(workspace, path.replace(/[^/]*$/, temporary));
  if ((await digestAtPath(workspace, path)) !== before) await undoChange(workspace, backups, { path, before, after });
}

async function digestAtPath(workspace: Workspace, path: string): Promise<string | null> {
  const location = await locate(workspace, path);
  if (location.path !== path)
    throw new WorkspaceError("changed", `${path} leads to ${location.path} now, so the file was not changed.`);
  if (location.kind === "missing") return null;
  await using file = await openFile(workspace, path);
  return contentDigest(await file.handle.readFile());
}

async function removeTemporary(workspace: Workspace, path: string): Promise<void> {
  const location = await locate(workspace, path);
  if (location.kind !== "file") return;
  await using file = await openFile(workspace, path);
  await removeFile(workspace, location, file.stats);
}

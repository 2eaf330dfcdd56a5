import type { Session } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import { addRestorationMessage, type ChangedFile, type ChangesContext, changedFiles, revertFiles } from "@banyan/host";
import { shownPath } from "@banyan/tools/named-path";
import { type ExitCode, exitCodes } from "../program/exit.ts";
import { UsageError } from "../program/problem.ts";
import { changedFileLines, changedFileNamed, changeHead } from "../show/diff-lines.ts";
import { plainLine } from "../show/plain-text.ts";
import { styleFor } from "../show/style.ts";
import { askForYes } from "../terminal/ask-for-yes.ts";
import type { ChangesArguments } from "./arguments.ts";

interface RevertTarget {
  readonly session: Session;
  readonly context: ChangesContext;
  readonly files: readonly ChangedFile[];
}

/** Reverts files after the user's yes or `--yes`. Returns exit code 1 if a file could not be reverted. */
export async function revert(
  { session, context, files }: RevertTarget,
  { paths, all, yes }: Extract<ChangesArguments, { action: "revert" }>,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): Promise<ExitCode | undefined> {
  if (all === paths.length > 0) throw new UsageError("Name the files to restore, or use --all.");
  const wanted = all ? files : [...new Set(paths.map((path) => findChangedFile(files, path)))];
  if (wanted.length === 0) {
    write(`${changedFileLines(wanted).join("\n")}\n`);
    return undefined;
  }
  const what = (await folderPhrases(wanted, context)).join("; ");
  if (!yes && !(await askForYes(`restore ${what}`, `This restores ${what}.`))) {
    write("Nothing was restored.\n");
    return undefined;
  }
  const { leaf } = session.state;
  const ofLast = new Set(leaf === null ? [] : changedFiles(session.state, leaf).map(({ path }) => path));
  const { changes, problems } = await revertFiles(session, { ...context, agreed: true }, wanted);
  // On the conversation's current branch, tell the model that its changes are reverted.
  const believed = changes.filter(({ path }) => ofLast.has(path));
  if (believed.length > 0) await addRestorationMessage(session, leaf, believed);
  const style = styleFor(process.stdout, "auto");
  for (const change of changes) write(`${changeHead(change, style)}\n`);
  for (const problem of problems) warn(problem);
  if (problems.length === 0) return undefined;
  warn(`${counted(problems.length, "file")} could not be restored.`);
  return exitCodes.failed;
}

async function folderPhrases(files: readonly ChangedFile[], { folderOf }: ChangesContext): Promise<string[]> {
  const byWorktree = Map.groupBy(files, ({ worktree }) => worktree);
  return Promise.all(
    byWorktree.entries().map(async ([worktree, own]) => {
      // Reverting a file of a removed worktree reports its own error.
      const folder = await folderOf(worktree).catch(() => `the worktree ${worktree}`);
      return plainLine(`${own.map(({ path }) => shownPath(path)).join(", ")} in ${folder}`);
    }),
  );
}

/** Returns the changed file with this path. Throws `UsageError` if there is none. */
export function findChangedFile(files: readonly ChangedFile[], path: string): ChangedFile {
  const found = changedFileNamed(files, path);
  if (found) return found;
  const names = files.map((file) => shownPath(file.path)).join(", ");
  throw new UsageError(
    `${path} was not changed. ${names === "" ? "No file was changed." : `Changed files: ${names}.`}`,
  );
}

import type { Session } from "@banyan/core";
import { counted } from "@banyan/core/shown";
import { type ChangedFile, type ChangesPlace, changesOf, revertFiles, tellTakenBack } from "@banyan/host";
import { shownPath } from "@banyan/tools/named-path";
import { type ExitCode, exitCodes } from "../exit.ts";
import { UsageError } from "../problem.ts";
import { changedFileLines, changedFileNamed, changeHead } from "../show/diff-lines.ts";
import { oneLine } from "../show/plain-text.ts";
import { styleFor } from "../show/style.ts";
import { agreed } from "../terminal/agreed.ts";
import type { ChangesArguments } from "./arguments.ts";

/** What there is to be put back, and where. */
interface Changed {
  readonly session: Session;
  readonly place: ChangesPlace;
  readonly files: readonly ChangedFile[];
}

/** Puts files back to what they were, once a person has agreed, or `--yes` has. Exits with 1 when one of them could not be. */
export async function revert(
  { session, place, files }: Changed,
  { paths, all, yes }: Extract<ChangesArguments, { action: "revert" }>,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): Promise<ExitCode | undefined> {
  if (all === paths.length > 0) throw new UsageError("Name the files to restore, or use --all.");
  const wanted = all ? files : [...new Set(paths.map((path) => fileNamed(files, path)))];
  if (wanted.length === 0) {
    write(`${changedFileLines(wanted).join("\n")}\n`);
    return undefined;
  }
  const what = (await placesOf(wanted, place)).join("; ");
  if (!yes && !(await agreed(`restore ${what}`, `This restores ${what}.`))) {
    write("Nothing was restored.\n");
    return undefined;
  }
  const { leaf } = session.state;
  const ofLast = new Set(leaf === null ? [] : changesOf(session.state, leaf).map(({ path }) => path));
  const { changes, problems } = await revertFiles(session, { ...place, agreed: true }, wanted);
  // Where the conversation goes on, the model takes these changes for done.
  const believed = changes.filter(({ path }) => ofLast.has(path));
  if (believed.length > 0) await tellTakenBack(session, leaf, believed);
  const style = styleFor(process.stdout, "auto");
  for (const change of changes) write(`${changeHead(change, style)}\n`);
  for (const problem of problems) warn(problem);
  if (problems.length === 0) return undefined;
  warn(`${counted(problems.length, "file")} could not be restored.`);
  return exitCodes.failed;
}

/** The files that would be put back, with the folder that they are in: a sentence part for each folder. */
async function placesOf(files: readonly ChangedFile[], { folderOf }: ChangesPlace): Promise<string[]> {
  const byWorktree = Map.groupBy(files, ({ worktree }) => worktree);
  return Promise.all(
    byWorktree.entries().map(async ([worktree, own]) => {
      // Each file of a worktree that is gone says so when it is put back.
      const folder = await folderOf(worktree).catch(() => `the worktree ${worktree}`);
      return oneLine(`${own.map(({ path }) => shownPath(path)).join(", ")} in ${folder}`);
    }),
  );
}

/** The changed file that a person means. Throws `UsageError` when there is none of that name. */
export function fileNamed(files: readonly ChangedFile[], path: string): ChangedFile {
  const found = changedFileNamed(files, path);
  if (found) return found;
  const names = files.map((file) => shownPath(file.path)).join(", ");
  throw new UsageError(`${path} was not changed. ${names === "" ? "No file was." : `Changed are: ${names}.`}`);
}

import { errorMessage } from "@banyan/core/shown";

/**
 * The reason why a worktree cannot be used. `repository`: there is no repository with files and a commit. `name`: git
 * accepts no branch of this name. `gone`: the worktree was removed. `foreign`: it belongs to another conversation.
 * `holds`: the worktree has changes. `busy`: an agent works in the worktree. `system`: git or the system failed.
 */
export type WorktreeErrorCode = "repository" | "name" | "gone" | "foreign" | "holds" | "busy" | "system";

/** The error of a worktree that cannot be made or used. The message is for users. */
export class WorktreeError extends Error {
  override readonly name = "WorktreeError";
  readonly code: WorktreeErrorCode;

  constructor(code: WorktreeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Makes the error for a folder whose repository cannot have worktrees. */
export function noRepository(folder: string, cause: unknown): WorktreeError {
  const said = gitErrorText(cause);
  const no = "so a branch cannot have a worktree of its own";
  const why = /not a git repository/.test(said)
    ? `${folder} is not in a git repository, ${no}. To create a repository, run \`git init\`.`
    : /bare repository|must be run in a work tree/.test(said)
      ? `${folder} is a repository without files (bare), ${no}. Work in a clone of that repository.`
      : `The repository around ${folder} cannot be used, ${no}: ${said}`;
  return new WorktreeError("repository", why, { cause });
}

/** Runs work of git, and converts failures to a `WorktreeError`. */
export async function explainGitErrors<Result>(what: string, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw refusedGitError(what, error);
  }
}

function refusedGitError(what: string, cause: unknown): WorktreeError {
  if (cause instanceof WorktreeError) return cause;
  return new WorktreeError("system", `${what}: ${gitErrorText(cause)}`, { cause });
}

/** The last error line of git, or the system's message. */
function gitErrorText(error: unknown): string {
  const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
  const lines = said.split("\n").filter((line) => /^(fatal|error): /.test(line));
  const words = lines[0]?.replace(/^\w+: /, "") ?? errorMessage(error);
  if (
    error instanceof Error &&
    "code" in error &&
    error.code === "ENOENT" &&
    "syscall" in error &&
    /^spawn/.test(String(error.syscall))
  )
    return "git is not installed, or the folder is gone.";
  return /[.!?]$/.test(words) ? words : `${words}.`;
}

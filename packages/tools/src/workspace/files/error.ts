/**
 * What a tool can refuse or run into. `root`: the workspace itself cannot be used. `path`: the path is malformed.
 * `outside`: it leads out of the workspace. `missing`: nothing is there. `kind`: what is there is of the wrong kind.
 * `protected`: it must not be written. `content`: the content cannot be shown or changed as text. `encoding`: the text is in an
 * encoding that cannot be written back. `match`: the text
 * to replace was not found once. `changed`: somebody else changed the path meanwhile. `pattern`: a pattern is
 * invalid. `range`: lines that do not exist. `refused`: the host does not let
 * this text be written, or this file be read. `system`: the
 * operating system refused.
 */
export type WorkspaceErrorCode =
  | "root"
  | "path"
  | "outside"
  | "missing"
  | "kind"
  | "protected"
  | "content"
  | "encoding"
  | "match"
  | "changed"
  | "pattern"
  | "range"
  | "refused"
  | "system";

/** A refusal of a workspace tool. Its message names the path and says what to do, in words for the model. */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceErrorCode;

  constructor(code: WorkspaceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The code of an error of the operating system (`ENOENT`), or undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** What the operating system said about a path, as a sentence. Other errors come back as they are. */
export function explain(path: string, error: unknown): Error {
  if (error instanceof WorkspaceError) return error;
  const code = systemCode(error);
  switch (code) {
    case undefined:
      return error instanceof Error ? error : new Error(String(error));
    case "ENOENT":
      return new WorkspaceError("missing", `There is nothing at ${path}. Use list to see what is there.`, {
        cause: error,
      });
    case "EACCES":
    case "EPERM":
      return new WorkspaceError("system", `The operating system denies access to ${path}.`, { cause: error });
    case "ENOTDIR":
      return new WorkspaceError("kind", `A part of ${path} is a file, not a folder.`, { cause: error });
    case "EISDIR":
      return new WorkspaceError("kind", `${path} is a folder, not a file.`, { cause: error });
    case "ENAMETOOLONG":
      return new WorkspaceError("path", `The path is too long: ${path.slice(0, 80)}...`, { cause: error });
    case "ENOSPC":
    case "EDQUOT":
      return new WorkspaceError("system", `The disk is full; ${path} was left as it was.`, { cause: error });
    case "EROFS":
      return new WorkspaceError("system", `${path} is on a read-only file system.`, { cause: error });
    case "ELOOP":
      return new WorkspaceError("changed", `${path} was replaced by a link while it was being opened.`, {
        cause: error,
      });
    default:
      return new WorkspaceError("system", `${path} could not be used: ${code}.`, { cause: error });
  }
}

/** What went wrong, in words, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

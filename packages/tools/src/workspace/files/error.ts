/**
 * Why a workspace tool failed. `root`: the workspace cannot be used. `path`: the path is malformed. `outside`: the path
 * leads out of the workspace. `missing`: the path does not exist. `kind`: the path is not a file of the expected kind.
 * `protected`: the path must not be written. `content`: the content is not text. `encoding`: the text cannot be written
 * back in its encoding. `match`: the text to replace does not occur exactly once. `changed`: another program changed
 * the path meanwhile. `pattern`: a pattern is invalid. `range`: the lines do not exist. `refused`: the host forbids
 * writing the text or reading the file. `system`: the operating system refused. See {@link WorkspaceError}.
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

/**
 * A failure of a workspace tool. The message gives the model the path and the remedy.
 * @example
 * try {
 *   openWorkspace("/missing");
 * } catch (error) {
 *   if (error instanceof WorkspaceError) console.error(error.code, error.message); // "root", and the remedy
 * }
 */
export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  readonly code: WorkspaceErrorCode;

  constructor(code: WorkspaceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Returns the code of an operating system error (`ENOENT`); undefined for other errors. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Converts an operating system error to a `WorkspaceError` that names the path. Other errors are returned unchanged. */
export function explainPathError(path: string, error: unknown): Error {
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
      return new WorkspaceError("system", `The disk is full; ${path} is unchanged.`, { cause: error });
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

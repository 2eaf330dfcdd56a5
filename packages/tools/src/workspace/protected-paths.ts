import { WorkspaceError } from "./error.ts";
import type { Location, Workspace } from "./paths.ts";

/** Folders whose content decides what programs do: git's hooks and settings, and this program's own configuration. */
const CLOSED_FOLDERS: ReadonlySet<string> = new Set([".git", ".banyan"]);

/** Files that a shell runs when it starts or when somebody enters a folder. */
export const START_FILES: ReadonlySet<string> = new Set([
  ".bash_aliases",
  ".bash_login",
  ".bash_logout",
  ".bash_profile",
  ".bashrc",
  ".cshrc",
  ".envrc",
  ".inputrc",
  ".kshrc",
  ".login",
  ".logout",
  ".mkshrc",
  ".profile",
  ".tcshrc",
  ".xprofile",
  ".zlogin",
  ".zlogout",
  ".zprofile",
  ".zshenv",
  ".zshrc",
]);

/**
 * Throws when nothing may be written at this place (S8). Names are compared without case, since some file systems do
 * so too.
 */
export function assertWritable(workspace: Workspace, location: Location): void {
  const parts = location.path.toLowerCase().split("/");
  const folder = parts.find((part) => CLOSED_FOLDERS.has(part));
  if (folder !== undefined) throw refusal(location, `${folder} is not written by tools`);
  const name = parts.at(-1) ?? "";
  if (START_FILES.has(name) || isFishConfiguration(parts)) throw refusal(location, "a shell runs it when it starts");
  for (const path of workspace.protected) {
    const closed = path.toLowerCase();
    const here = parts.join("/");
    if (closed === "." || here === closed || here.startsWith(`${closed}/`))
      throw refusal(location, `${path} is protected`);
  }
  if (location.kind === "directory") throw new WorkspaceError("kind", `${location.path} is a folder. Name a file.`);
  if (location.kind === "special")
    throw new WorkspaceError("kind", `${location.path} is ${location.what}, not a file, and is not written.`);
}

function isFishConfiguration(parts: readonly string[]): boolean {
  return parts.some((part, index) => part === "fish" && parts[index - 1] === ".config");
}

function refusal(location: Location, reason: string): WorkspaceError {
  return new WorkspaceError(
    "protected",
    `${location.path} must not be written: ${reason}. Ask the user to change it by hand.`,
  );
}

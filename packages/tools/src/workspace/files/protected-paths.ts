import { WorkspaceError } from "./error.ts";
import type { Location, Workspace } from "./paths.ts";

/** Names of files that programs obey when a user opens or enters their folder. */
interface ProtectedNames {
  /** Paths, which may have several parts. Everything below them is included. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** Files that tools never write: git's hooks and settings, Banyan's own files, and startup files of shells. */
const CLOSED: ProtectedNames = {
  folders: [".git", ".banyan", ".config/fish"],
  files: [
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
  ],
};

/** Files that tools write only after the user approved that file: settings of editors, other agents, git and ripgrep. */
const ASKED: ProtectedNames = {
  folders: [".claude", ".cursor", ".devcontainer", ".idea", ".vscode", ".zed"],
  files: [".claude.json", ".gitconfig", ".mcp.json", ".ripgreprc"],
};

/** All protected file names (S8, S19): of files that tools never write, and of files that tools write only after approval. */
export const protectedNames: ProtectedNames = {
  folders: [...CLOSED.folders, ...ASKED.folders],
  files: [...CLOSED.files, ...ASKED.files],
};

/**
 * Returns the shortest protected beginning of a path; undefined if the path is not protected. The path is relative to
 * the workspace or absolute, with `/` between its parts. Case is ignored, as on some file systems.
 * @example protectedPart("docs/a.md") // undefined
 */
export function protectedPart(path: string): string | undefined {
  return partIn(protectedNames, path);
}

function partIn({ folders, files }: ProtectedNames, path: string): string | undefined {
  const parts = path.split("/");
  const lower = parts.map((part) => part.toLowerCase());
  for (let at = 0; at < parts.length; at += 1)
    for (const folder of folders) {
      const length = folder.split("/").length;
      if (lower.slice(at, at + length).join("/") === folder) return parts.slice(0, at + length).join("/");
    }
  return files.includes(lower.at(-1) ?? "") ? path : undefined;
}

/** Throws if tools must not write at this location (S8). */
export function assertWritable(workspace: Workspace, location: Location): void {
  const part = partIn(CLOSED, location.path);
  if (part !== undefined) {
    const name = part.split("/").at(-1)?.toLowerCase();
    const isConfiguration = name === ".git" || name === ".banyan";
    throw protectedPathError(
      location,
      isConfiguration ? `tools never write to ${name}` : "a shell runs it when it starts",
    );
  }
  const here = location.path.toLowerCase();
  for (const path of workspace.protected) {
    const closed = path.toLowerCase();
    if (closed === "." || here === closed || here.startsWith(`${closed}/`))
      throw protectedPathError(location, `${path} is protected`);
  }
  if (location.kind === "directory") throw new WorkspaceError("kind", `${location.path} is a folder. Name a file.`);
  // Only callers that replace the link itself have a link's location: `locate` follows links.
  if (location.kind === "special" && location.what !== "a link")
    throw new WorkspaceError("kind", `${location.path} is ${location.what}, not a file, so it was not written.`);
}

function protectedPathError(location: Location, reason: string): WorkspaceError {
  return new WorkspaceError(
    "protected",
    `${location.path} must not be written: ${reason}. Ask the user to change it by hand.`,
  );
}

import { WorkspaceError } from "./error.ts";
import type { Location, Workspace } from "./paths.ts";

/** Names that decide what programs do by themselves when somebody opens or enters the folder they are in. */
interface Names {
  /** May be several parts. All below is meant too. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/** What tools never write: git's hooks and settings, this program's own, and what a shell runs when it starts. */
const CLOSED: Names = {
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

/** What tools write when somebody agrees to that very file: what editors, other agents, git and ripgrep go by. */
const ASKED: Names = {
  folders: [".claude", ".cursor", ".devcontainer", ".idea", ".vscode", ".zed"],
  files: [".claude.json", ".gitconfig", ".mcp.json", ".ripgreprc"],
};

/** All names of both kinds (S8, S19): no command in the sandbox writes them, and no approval mode lets them pass unasked. */
export const protectedNames: Names = {
  folders: [...CLOSED.folders, ...ASKED.folders],
  files: [...CLOSED.files, ...ASKED.files],
};

/**
 * The shortest beginning of a path that is protected as a whole; undefined when none is. The path is relative to the
 * workspace or absolute, with `/` between its parts. Names are compared without case, since some file systems do so too.
 */
export function protectedPart(path: string): string | undefined {
  return partIn(protectedNames, path);
}

function partIn({ folders, files }: Names, path: string): string | undefined {
  const parts = path.split("/");
  const lower = parts.map((part) => part.toLowerCase());
  for (let at = 0; at < parts.length; at += 1)
    for (const folder of folders) {
      const length = folder.split("/").length;
      if (lower.slice(at, at + length).join("/") === folder) return parts.slice(0, at + length).join("/");
    }
  return files.includes(lower.at(-1) ?? "") ? path : undefined;
}

/** Throws when nothing may be written at this place (S8). */
export function assertWritable(workspace: Workspace, location: Location): void {
  const part = partIn(CLOSED, location.path);
  if (part !== undefined) {
    const name = part.split("/").at(-1)?.toLowerCase();
    const isConfiguration = name === ".git" || name === ".banyan";
    throw refusal(location, isConfiguration ? `${name} is not written by tools` : "a shell runs it when it starts");
  }
  const here = location.path.toLowerCase();
  for (const path of workspace.protected) {
    const closed = path.toLowerCase();
    if (closed === "." || here === closed || here.startsWith(`${closed}/`))
      throw refusal(location, `${path} is protected`);
  }
  if (location.kind === "directory") throw new WorkspaceError("kind", `${location.path} is a folder. Name a file.`);
  // Only a caller that replaces the link itself has a location of a link: `locate` follows links.
  if (location.kind === "special" && location.what !== "a link")
    throw new WorkspaceError("kind", `${location.path} is ${location.what}, not a file, and is not written.`);
}

function refusal(location: Location, reason: string): WorkspaceError {
  return new WorkspaceError(
    "protected",
    `${location.path} must not be written: ${reason}. Ask the user to change it by hand.`,
  );
}

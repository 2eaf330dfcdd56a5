import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { meantPath } from "@banyan/tools/named-path";
import {
  type Location,
  locate,
  openWorkspace,
  type ReadRefusal,
  type Workspace,
  WorkspaceError,
} from "@banyan/tools/workspace";

/** The files of this machine that a message may name. */
export interface FileReach {
  /** The folder to which relative paths refer. */
  readonly folder: string;
  /** True if paths outside the folder are allowed, such as for a user of this machine. */
  readonly outside?: boolean;
  /** Returns the reason why permission rules forbid reading a file. */
  readonly whyNotRead?: ReadRefusal | undefined;
}

/** An existing file or folder, and the folder from which it is opened. */
export interface AttachableFile {
  readonly workspace: Workspace;
  readonly location: Location;
}

/** The reason why an existing file is not attached, as the end of a sentence. */
export interface RefusedFile {
  readonly why: string;
}

export type NamedFile = AttachableFile | RefusedFile;

export function isRefusedFile(file: NamedFile): file is RefusedFile {
  return "why" in file;
}

/**
 * Finds a file that a user named (S21). Follows links within the folder. If a link leads out of the folder, the error
 * contains its target. The user can then name this target: the user, not the repository, decides. Returns undefined for
 * a missing file.
 */
export async function findNamedFile(name: string, reach: FileReach): Promise<NamedFile | undefined> {
  const { folder, outside = false, whyNotRead } = reach;
  let meant = name;
  try {
    const workspace = openWorkspace(folder);
    meant = meantPath(name, workspace);
    const location = await locate(workspace, meant);
    return location.kind === "missing"
      ? undefined
      : checkReadable({ workspace, location }, location.path, name, whyNotRead);
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    if (error.code === "path") return { why: error.message };
    if (error.code !== "outside") return undefined;
  }
  const named = resolve(await realpath(folder), meant);
  const real = await realpath(named).catch(() => undefined);
  if (!outside) return { why: "it is outside the workspace, and a message to a server can name only files inside." };
  if (real === undefined) return undefined;
  if (real !== named) return { why: `a link leads to ${real}. Name that path if you mean it.` };
  const workspace = openWorkspace(dirname(real));
  const location = await locate(workspace, basename(real) || ".");
  return location.kind === "missing" ? undefined : checkReadable({ workspace, location }, real, name, whyNotRead);
}

function checkReadable(
  file: AttachableFile,
  path: string,
  name: string,
  whyNotRead: ReadRefusal | undefined,
): NamedFile {
  const why = file.location.kind === "directory" ? undefined : whyNotRead?.(path, name);
  return why === undefined ? file : { why };
}

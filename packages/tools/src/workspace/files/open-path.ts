import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { explainPathError, systemCode, WorkspaceError } from "./error.ts";
import { adviceOnPath } from "./named-path.ts";
import { type Location, locate, specialKind, type Workspace } from "./paths.ts";

/**
 * An open folder. On Linux, `at` refers to the open folder itself: a path below `at` stays correct even if a parent is
 * swapped for a link. On other systems, `at` is the folder's path, checked when it was opened.
 */
export interface OpenDirectory extends AsyncDisposable {
  readonly at: string;
  /** Makes new and renamed entries survive a power cut. */
  flush(): Promise<void>;
}

/** A regular file, open for reading. See {@link openFileAt}. */
export interface OpenRegularFile extends AsyncDisposable {
  readonly path: string;
  readonly handle: FileHandle;
  readonly stats: Stats;
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** `O_NONBLOCK`: a named pipe in place of the file opens at once and is refused afterwards. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a folder by its path without links, and checks that the opened folder is at this path.
 * @example
 * await using folder = await openDirectory(workspace, workspace.root);
 * await writeFile(`${folder.at}/a.txt`, "oak\n");
 */
export async function openDirectory(workspace: Workspace, real: string): Promise<OpenDirectory> {
  const handle = await open(real, DIRECTORY);
  try {
    await verify(workspace, handle, real);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return openedDirectory(workspace, handle, real);
}

/** Opens a folder directly inside an open folder, never through a link. */
export async function openInside(workspace: Workspace, parent: OpenDirectory, name: string): Promise<OpenDirectory> {
  const at = `${parent.at}/${name}`;
  // With the parent's descriptor, only a link as the last part could lead elsewhere.
  return workspace.descriptors
    ? openedDirectory(workspace, await open(at, DIRECTORY), at)
    : openDirectory(workspace, at);
}

function openedDirectory(workspace: Workspace, handle: FileHandle, path: string): OpenDirectory {
  return {
    at: workspace.descriptors ? `/proc/self/fd/${handle.fd}` : path,
    async flush() {
      try {
        await handle.sync();
      } catch (error) {
        // Some network drives cannot sync a folder, so they decide how durable it is.
        if (systemCode(error) !== "EINVAL") throw error;
      }
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/**
 * Opens a file of the workspace for reading. Throws a `WorkspaceError` unless the path is a regular file inside the
 * workspace, even if it is swapped between check and opening. Also throws if a rule forbids reading.
 */
export async function openFile(workspace: Workspace, named: string): Promise<OpenRegularFile> {
  const location = await locate(workspace, named);
  if (location.kind === "file") {
    const why = workspace.whyNotRead?.(location.path, named);
    if (why !== undefined) throw new WorkspaceError("refused", `${location.path} was not read: ${why}`);
  }
  return openFileAt(workspace, location);
}

/**
 * Opens a located file. Throws like `openFile` if it is not a regular file or was replaced.
 * @example
 * await using file = await openFileAt(workspace, await locate(workspace, "a.txt"));
 * console.log(file.stats.size);
 */
export async function openFileAt(workspace: Workspace, location: Location): Promise<OpenRegularFile> {
  switch (location.kind) {
    case "missing":
      throw new WorkspaceError(
        "missing",
        `There is no file ${location.path}. ${adviceOnPath(workspace.root, location.path) || "Use list or search to find it."}`,
      );
    case "directory":
      throw new WorkspaceError("kind", `${location.path} is a folder. Use list to see what is in it.`);
    case "special":
      throw new WorkspaceError("kind", `${location.path} is ${location.what}, not a file, so it was not opened.`);
    case "file":
      break;
  }
  try {
    await using parent = await openDirectory(workspace, dirname(location.real));
    return await openFileInside(workspace, parent, basename(location.real), location.path);
  } catch (error) {
    throw explainPathError(location.path, error);
  }
}

/** Opens a regular file directly inside an open folder, never through a link. Errors name `path`. */
export async function openFileInside(
  workspace: Workspace,
  parent: OpenDirectory,
  name: string,
  path: string,
): Promise<OpenRegularFile> {
  const at = `${parent.at}/${name}`;
  const handle = await open(at, READ);
  try {
    const stats = await handle.stat();
    if (!stats.isFile())
      throw new WorkspaceError(
        "kind",
        `${path} is ${stats.isDirectory() ? "a folder" : specialKind(stats)}, not a file.`,
      );
    if (!workspace.descriptors) await verify(workspace, handle, at);
    return { path, handle, stats, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function verify(workspace: Workspace, handle: FileHandle, real: string): Promise<void> {
  if (workspace.descriptors) {
    if ((await readlink(`/proc/self/fd/${handle.fd}`)) === real) return;
  } else if ((await realpath(real)) === real) {
    const [opened, there] = await Promise.all([handle.stat(), stat(real)]);
    if (opened.dev === there.dev && opened.ino === there.ino) return;
  }
  throw new WorkspaceError(
    "changed",
    `${real} was replaced while it was being opened. Try again once nothing else changes it.`,
  );
}

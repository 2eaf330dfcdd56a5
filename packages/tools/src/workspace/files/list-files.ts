import { lstatSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { systemCode, WorkspaceError } from "./error.ts";
import { rulesDownTo } from "./git-ignore.ts";
import { openDirectory } from "./open-path.ts";
import { openWorkspace } from "./paths.ts";
import { walk } from "./walk.ts";

/** Files that are listed at the most. */
const MOST = 50_000;
/** Milliseconds after which a list ends with what it has. */
const LONGEST = 5_000;
/** Folders that hold what others wrote, where no repository says so. */
const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules", ".venv", "__pycache__"]);

/**
 * The files and links of a folder and below it, as paths from there, sorted, without those that ignore files leave out,
 * those of the repository around it included. No program is asked, and no link is followed (S16, S21): all that the
 * folder can say is what to leave out. A folder that cannot be opened has no files.
 */
export async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const signal = AbortSignal.timeout(LONGEST);
  try {
    const { root } = openWorkspace(folder);
    const top = repositoryAround(root);
    const workspace = openWorkspace(top ?? root);
    const start = relative(workspace.root, root).split(sep).join("/") || ".";
    await using directory = await openDirectory(workspace, root);
    const rules = await rulesDownTo(workspace, start);
    const passOver = top === undefined ? PASSED_OVER : undefined;
    const depth = Number.POSITIVE_INFINITY;
    for await (const { path, kind } of walk(workspace, directory, start, {
      depth,
      rules,
      signal,
      ...(passOver && { passOver }),
    })) {
      if (kind === "file" || kind === "link") files.push(start === "." ? path : path.slice(start.length + 1));
      if (files.length === MOST) break;
    }
  } catch (error) {
    // It is gone, or may not be read, or was replaced meanwhile; or its time is over.
    if (!signal.aborted && systemCode(error) === undefined && !(error instanceof WorkspaceError)) throw error;
  }
  return files.sort();
}

/** The nearest folder, from this one up, that holds a repository. */
function repositoryAround(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false })) return at;
    if (at === dirname(at)) return undefined;
  }
}

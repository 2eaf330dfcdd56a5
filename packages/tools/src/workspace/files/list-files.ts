import { lstatSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { systemCode, WorkspaceError } from "./error.ts";
import { rulesDownTo } from "./git-ignore.ts";
import { openDirectory } from "./open-path.ts";
import { openWorkspace } from "./paths.ts";
import { walk } from "./walk.ts";

const MOST = 50_000;
/** Milliseconds after which the listing ends with the files so far. */
const LONGEST = 5_000;
/** Folders with third-party files, which are skipped outside of repositories. */
const PASSED_OVER: ReadonlySet<string> = new Set(["node_modules", ".venv", "__pycache__"]);

/**
 * Lists the files and links in a folder, sorted, as paths relative to it. Ignored files are left out, by the ignore
 * files of the folder and of the repository around it. No program runs and no link is followed (S16, S21): the folder
 * can only exclude files. An unreadable folder has no files.
 * @example const sources = (await listFiles("/work")).filter((path) => path.endsWith(".ts"));
 */
export async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const signal = AbortSignal.timeout(LONGEST);
  try {
    const { root } = openWorkspace(folder);
    const top = repositoryOfFolder(root);
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
    // The folder is gone, unreadable, or was replaced; or the time is over.
    if (!signal.aborted && systemCode(error) === undefined && !(error instanceof WorkspaceError)) throw error;
  }
  return files.sort();
}

function repositoryOfFolder(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (lstatSync(join(at, ".git"), { throwIfNoEntry: false })) return at;
    if (at === dirname(at)) return undefined;
  }
}

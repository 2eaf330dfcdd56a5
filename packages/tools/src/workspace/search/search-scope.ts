import { rulesDownTo } from "../files/git-ignore.ts";
import { compileGlob, folderOfGlob } from "../files/glob.ts";
import { openDirectory } from "../files/open-path.ts";
import { type Location, locate, type Workspace } from "../files/paths.ts";
import { type SkippedEntry, walk } from "../files/walk.ts";

/** The files to search, in order and relative to the root, and the entries that the search leaves out. */
export interface Scope {
  readonly files: readonly string[];
  readonly leftOut: readonly SkippedEntry[];
  /** Links to files outside, or to files that are searched at their own path. */
  readonly links: readonly string[];
}

/**
 * Finds the files of a folder that match a glob. A path to a file is treated as a folder with this file. A folder that
 * the path or the glob names is searched even if git ignores it. Throws the signal's reason after an abort.
 */
export async function scopeOf(
  workspace: Workspace,
  place: Location,
  glob: string | undefined,
  signal: AbortSignal,
): Promise<Scope> {
  if (place.kind === "file") return { files: [place.path], leftOut: [], links: [] };
  const fits = compileGlob(glob);
  const folder = await folderToWalk(workspace, place, glob);
  const files: string[] = [];
  const leftOut: SkippedEntry[] = [];
  const links: string[] = [];
  await using directory = await openDirectory(workspace, folder.real);
  const entries = walk(workspace, directory, folder.path, {
    depth: Number.POSITIVE_INFINITY,
    rules: await rulesDownTo(workspace, folder.path),
    signal,
    onLeftOut: (left) => {
      if (left.isFolder || fits(left.path)) leftOut.push(left);
    },
  });
  for await (const { path, kind } of entries) {
    if (kind === "file" && fits(path)) files.push(path);
    if (kind === "link" && fits(path)) links.push(path);
  }
  return { files, leftOut, links };
}

async function folderToWalk(workspace: Workspace, place: Location, glob: string | undefined): Promise<Location> {
  const named = folderOfGlob(glob);
  if (named === undefined || !(place.path === "." || `${named}/`.startsWith(`${place.path}/`))) return place;
  const folder = await locate(workspace, named).catch(() => place);
  return folder.kind === "directory" && folder.path === named ? folder : place;
}

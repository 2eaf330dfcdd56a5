/** Returns the path of a name in a folder; the empty folder is the root. */
export function pathBelow(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns, for each folder, the names that lead to the paths. */
export function namesByFolder(paths: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const names = new Map<string, Set<string>>();
  for (const path of paths)
    for (let at = path; at !== ""; at = folderOf(at))
      names.set(folderOf(at), (names.get(folderOf(at)) ?? new Set()).add(nameOf(at)));
  return names;
}

/** Returns the paths of all names in all folders. */
export function pathsBelow(names: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  return new Set([...names].flatMap(([folder, inside]) => [...inside].map((name) => pathBelow(folder, name))));
}

/**
 * Returns at most `most` paths that contain all the given paths: the deepest paths become their folders, step by step.
 * The empty path contains all.
 */
export function coveringPaths(paths: Iterable<string>, most: number): readonly string[] {
  let covering = new Set(paths);
  while (covering.size > most) {
    const deepest = Math.max(...[...covering].map(depthOf));
    if (deepest === 0) break;
    covering = new Set([...covering].map((path) => (depthOf(path) === deepest ? folderOf(path) : path)));
  }
  return [...covering].filter((path) => !foldersAbove(path).some((folder) => covering.has(folder)));
}

/** The number of names in a path; 0 for the empty path. */
function depthOf(path: string): number {
  return path === "" ? 0 : path.split("/").length;
}

function foldersAbove(path: string): readonly string[] {
  return path === "" ? [] : [folderOf(path), ...foldersAbove(folderOf(path))];
}

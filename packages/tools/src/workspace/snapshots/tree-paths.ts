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

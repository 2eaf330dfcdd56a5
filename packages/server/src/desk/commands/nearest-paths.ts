import { dirname } from "node:path/posix";

/**
 * Of files, and of the folders that they are in, those whose path holds the letters of a query in order: where they stand
 * together in a name first, then the shorter. At most `limit`.
 */
export function nearestPaths(query: string, files: readonly string[], limit: number): string[] {
  const wanted = query.toLowerCase();
  const found: { readonly path: string; readonly rank: number }[] = [];
  for (const path of [...foldersOf(files), ...files]) {
    const rank = rankOf(wanted, path.toLowerCase());
    if (rank !== undefined) found.push({ path, rank });
  }
  found.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return found.slice(0, limit).map(({ path }) => path);
}

/** 0: the path begins so. 1: a name in it does. 2: it stands somewhere. 3: its letters stand there in order. */
function rankOf(wanted: string, path: string): number | undefined {
  if (path.startsWith(wanted)) return 0;
  if (path.includes(`/${wanted}`)) return 1;
  if (path.includes(wanted)) return 2;
  let at = 0;
  for (const letter of wanted) {
    at = path.indexOf(letter, at) + 1;
    if (at === 0) return undefined;
  }
  return 3;
}

/** Each with a slash behind it. */
function foldersOf(files: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let folder = dirname(file); folder !== "." && !folders.has(`${folder}/`); folder = dirname(folder))
      folders.add(`${folder}/`);
  }
  return folders;
}

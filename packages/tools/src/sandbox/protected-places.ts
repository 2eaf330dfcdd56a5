import { execFile } from "node:child_process";
import { dirname, join, sep } from "node:path";
import { protectedNames, protectedPart } from "../workspace/files/protected-paths.ts";
import { isVacant } from "./placeholder.ts";
import { isRepository, linkedRepository, obeyedByGit, repositoriesIn } from "./repository.ts";

/**
 * The number of levels searched below a writable folder: `a/b/c/d` is at level 4. A deeper search is slower, and each
 * protected path costs a mount.
 */
const DEPTH = 4;
const LONGEST_SEARCH = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** Files that programs obey in any folder that a user opens or enters. */
const OBEYED_ANYWHERE = [...[".banyan", ".claude", ".cursor", ".envrc", ".idea", ".mcp.json", ".vscode"]];

/** The protected paths below a folder, and the repositories found there. */
export interface ProtectedPlaces {
  readonly places: readonly string[];
  readonly repositories: readonly string[];
}

/**
 * Finds the protected paths in a writable folder (S8, S19): files that git obeys in repositories, and files that other
 * programs obey. At the top of the folder and in repositories, this includes missing files. In a new folder further
 * down, commands can create such files. `rg` is the path of ripgrep. Rejects if the folder cannot be searched.
 */
export async function protectedPlaces(root: string, rg: string): Promise<ProtectedPlaces> {
  const found = new Set<string>();
  const repositories = new Set<string>();
  for (const file of await filesNamed(root, rg)) {
    const place = protectedPlaceOf(file);
    if (place === undefined) continue;
    if (!isRepositoryFile(place)) found.add(join(root, place));
    // Identify a repository by its HEAD or its settings: its hooks must be protected before they exist.
    else if (isRepository(join(root, dirname(place)))) repositories.add(join(root, dirname(place)));
  }
  const pointed = linkedRepository(root);
  if (pointed !== undefined && isPathWithin(root, pointed)) repositories.add(pointed);
  for (const repository of repositories)
    for (const inner of repositoriesIn(repository)) for (const path of obeyedByGit(inner)) found.add(path);
  const makers = makersOfRepository(root, repositories.has(join(root, ".git")));
  for (const name of [...OBEYED_ANYWHERE, ...makers]) found.add(join(root, name));
  return { places: [...found], repositories: [...repositories] };
}

/**
 * Returns the files that would turn the folder itself into a repository. Inside a repository, git treats the folder as
 * a repository once `.git` lacks a part. A placeholder `HEAD` would make `git log HEAD` ambiguous there, so another
 * required part gets the placeholder.
 */
function makersOfRepository(root: string, hasOwn: boolean): readonly string[] {
  const git = hasOwn ? [] : [".git"];
  if (!isInRepository(root)) return [...git, "HEAD"];
  const missing = ["refs", "objects", "HEAD"].find((name) => isVacant(join(root, name)));
  return [...git, "commondir", ...(missing === undefined ? [] : [missing])];
}

function isInRepository(folder: string): boolean {
  return !isVacant(join(folder, ".git")) || (folder !== dirname(folder) && isInRepository(dirname(folder)));
}

function protectedPlaceOf(file: string): string | undefined {
  if (isRepositoryFile(file)) return file;
  return file.toLowerCase().split("/").includes(".git") ? undefined : protectedPart(file);
}

function isRepositoryFile(path: string): boolean {
  return ["/HEAD", "/.git/config"].some((end) => `/${path}`.endsWith(end));
}

function filesNamed(root: string, rg: string): Promise<string[]> {
  const folders = protectedNames.folders.filter((folder) => folder !== ".git");
  const globs = [
    // The last matching glob counts. Below the deepest level, only protected folders are searched.
    ...[DEPTH + 1, DEPTH + 2].map((depth) => `!${"/*".repeat(depth)}/`),
    ...[...folders, ".git"].flatMap(entered),
    ...protectedNames.files,
    ...folders.map((folder) => `**/${folder}/**`),
    "**/HEAD",
    "**/.git/config",
  ];
  const args = [
    // No file of the searched tree may influence the list.
    ...["--files", "--hidden", "--no-ignore", "--no-config", "--null"],
    ...globs.flatMap((glob) => ["--iglob", glob]),
    ...["--glob", "!**/node_modules/**"],
  ];
  return new Promise((resolve, reject) => {
    execFile(rg, args, { cwd: root, timeout: LONGEST_SEARCH, maxBuffer: MOST_BYTES }, (error, stdout) => {
      // Code 1: no match. Code 2: a folder was unreadable, and the other folders were searched.
      if (error === null || error.code === 1 || error.code === 2)
        resolve(stdout.split("\0").filter((path) => path !== ""));
      else reject(new Error(`The search for protected files in ${root} failed or took too long.`, { cause: error }));
    });
  });
}

function entered(folder: string): string[] {
  const parts = folder.split("/");
  return parts.map((_, index) => `**/${parts.slice(0, index + 1).join("/")}/`);
}

/** Returns whether a path is `place` or lies inside `place`. Both are absolute. */
export function isPathWithin(place: string, path: string): boolean {
  return path === place || path.startsWith(place.endsWith(sep) ? place : place + sep);
}

import { execFile } from "node:child_process";
import { dirname, join, sep } from "node:path";
import { protectedNames, protectedPart } from "../workspace/files/protected-paths.ts";
import { isVacant } from "./placeholder.ts";
import { isRepository, obeyedByGit, pointedTo, repositoriesIn } from "./repository.ts";

/**
 * Folders below a writable place that are looked into, counted from the place: `a/b/c/d` is four deep. Deeper is slower, and
 * each protected place is one more mount.
 */
const DEPTH = 4;
const LONGEST_SEARCH = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** What a program obeys in whatever folder somebody opens or enters, and what makes a repository of it. */
const OBEYED_ANYWHERE = [...[".banyan", ".claude", ".cursor", ".envrc", ".idea", ".mcp.json", ".vscode"]];

/** What stays as it is below a folder, and the repositories that were found there. */
export interface ProtectedPlaces {
  readonly places: readonly string[];
  readonly repositories: readonly string[];
}

/**
 * What stays as it is in a place where commands may write (S8, S19): what git obeys in repositories, and what other
 * programs obey. At the top of the place, and in repositories, that includes what is not there yet; in a new folder below
 * it can be made. `rg` is the path of ripgrep. Rejects when the place cannot be searched.
 */
export async function protectedPlaces(root: string, rg: string): Promise<ProtectedPlaces> {
  const found = new Set<string>();
  const repositories = new Set<string>();
  for (const file of await filesNamed(root, rg)) {
    const place = placeOf(file);
    if (place === undefined) continue;
    if (!isOfRepository(place)) found.add(join(root, place));
    // A repository is known by its HEAD or settings, so that its hooks are safe before there are any.
    else if (isRepository(join(root, dirname(place)))) repositories.add(join(root, dirname(place)));
  }
  const pointed = pointedTo(root);
  if (pointed !== undefined && isWithin(root, pointed)) repositories.add(pointed);
  for (const repository of repositories)
    for (const inner of repositoriesIn(repository)) for (const path of obeyedByGit(inner)) found.add(path);
  const makers = makersOfRepository(root, repositories.has(join(root, ".git")));
  for (const name of [...OBEYED_ANYWHERE, ...makers]) found.add(join(root, name));
  return { places: [...found], repositories: [...repositories] };
}

/**
 * What would make the folder itself a repository. Inside of one, git takes the folder for it once `.git` lost a part. A folder
 * named `HEAD` would make `git log HEAD` ambiguous there, so another part that has to be there is held.
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

/** What is protected of a file that was found. */
function placeOf(file: string): string | undefined {
  if (isOfRepository(file)) return file;
  return file.toLowerCase().split("/").includes(".git") ? undefined : protectedPart(file);
}

function isOfRepository(path: string): boolean {
  return ["/HEAD", "/.git/config"].some((end) => `/${path}`.endsWith(end));
}

function filesNamed(root: string, rg: string): Promise<string[]> {
  const folders = protectedNames.folders.filter((folder) => folder !== ".git");
  const globs = [
    // Of two globs that match, the later one counts. Only protected folders are entered below the deepest one.
    ...[DEPTH + 1, DEPTH + 2].map((depth) => `!${"/*".repeat(depth)}/`),
    ...[...folders, ".git"].flatMap(entered),
    ...protectedNames.files,
    ...folders.map((folder) => `**/${folder}/**`),
    "**/HEAD",
    "**/.git/config",
  ];
  const args = [
    // No file of the tree decides what is listed.
    ...["--files", "--hidden", "--no-ignore", "--no-config", "--null"],
    ...globs.flatMap((glob) => ["--iglob", glob]),
    ...["--glob", "!**/node_modules/**"],
  ];
  return new Promise((resolve, reject) => {
    execFile(rg, args, { cwd: root, timeout: LONGEST_SEARCH, maxBuffer: MOST_BYTES }, (error, stdout) => {
      // 1: nothing was found. 2: some folder could not be read, and the rest was.
      if (error === null || error.code === 1 || error.code === 2)
        resolve(stdout.split("\0").filter((path) => path !== ""));
      else reject(new Error(`The protected files of ${root} could not be found in time.`, { cause: error }));
    });
  });
}

/** The globs of a folder, and of each folder of its name above it. */
function entered(folder: string): string[] {
  const parts = folder.split("/");
  return parts.map((_, index) => `**/${parts.slice(0, index + 1).join("/")}/`);
}

/** Whether a path is this place or lies in it. Both are absolute. */
export function isWithin(place: string, path: string): boolean {
  return path === place || path.startsWith(place.endsWith(sep) ? place : place + sep);
}

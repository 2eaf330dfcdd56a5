import { execFile } from "node:child_process";
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { protectedNames, protectedPart } from "../workspace/protected-paths.ts";
import { obeyedByGit } from "./repository.ts";

/** How deep below a writable place is looked. Deeper is slower, and each place found is a mount more. */
const DEPTH = 4;
const LONGEST_SEARCH = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** What a program obeys in whatever folder somebody opens or enters, and what makes a repository of it. */
const OBEYED_ANYWHERE = [...[".banyan", ".claude", ".cursor", ".envrc", ".idea", ".mcp.json", ".vscode"]];
const MAKES_REPOSITORY = [".git", "HEAD"];

/**
 * What stays as it is in a place where commands may write (S8, S19): what git obeys in repositories, and what other
 * programs obey. At the top of the place, and in repositories, that includes what is not there yet; in a new folder below
 * it can be made. `rg` is the path of ripgrep. Rejects when the place cannot be searched.
 */
export async function protectedPlaces(root: string, rg: string): Promise<string[]> {
  const found = new Set<string>();
  const repositories = new Set<string>();
  for (const file of await filesNamed(root, rg)) {
    const place = placeOf(file);
    if (place === undefined) continue;
    // A repository is known by its HEAD, so that its hooks are safe before there are any.
    if (place.endsWith("/HEAD")) repositories.add(join(root, dirname(place)));
    else found.add(join(root, place));
  }
  if (exists(join(root, "HEAD")) && exists(join(root, "objects"))) repositories.add(root);
  for (const repository of repositories) for (const path of obeyedByGit(repository)) found.add(path);
  const isRepository = repositories.has(join(root, ".git"));
  for (const name of [...OBEYED_ANYWHERE, ...(isRepository ? [] : MAKES_REPOSITORY)]) found.add(join(root, name));
  return [...found];
}

/** What is protected of a file that was found. */
function placeOf(file: string): string | undefined {
  const parts = file.toLowerCase().split("/");
  if (parts.includes(".git")) return parts.at(-1) === "head" ? file : undefined;
  return protectedPart(file);
}

function filesNamed(root: string, rg: string): Promise<string[]> {
  const globs = [
    ...protectedNames.files,
    ...protectedNames.folders.filter((folder) => folder !== ".git").map((folder) => `**/${folder}/**`),
    "**/.git/HEAD",
    "**/.git/modules/**/HEAD",
    "**/.git/worktrees/*/HEAD",
  ];
  const args = [
    // No file of the tree decides what is listed.
    ...["--files", "--hidden", "--no-ignore", "--no-config", "--null", "--max-depth", String(DEPTH)],
    ...globs.flatMap((glob) => ["--iglob", glob]),
    ...["--glob", "!**/node_modules/**"],
  ];
  return new Promise((resolve, reject) => {
    execFile(rg, args, { cwd: root, timeout: LONGEST_SEARCH, maxBuffer: MOST_BYTES }, (error, stdout) => {
      // 1: nothing was found. 2: some folder could not be read, and the rest was.
      if (error === null || error.code === 1 || error.code === 2)
        resolve(stdout.split("\0").filter((path) => path !== ""));
      else reject(new Error(`What must stay as it is in ${root} could not be found in time.`, { cause: error }));
    });
  });
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

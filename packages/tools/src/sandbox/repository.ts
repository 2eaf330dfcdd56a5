import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * What git obeys in a folder of its own: settings, hooks, and where other parts are. Commits, merges, rebases, stashes and
 * clean-ups write all else. What is missing and named cannot be made; the rest counts for nothing where it is missing.
 */
export function obeyedByGit(folder: string): string[] {
  const there = ["config.worktree", "gitdir", "info/attributes", "objects/info/alternates"];
  if (hasSettingsPerWorkTree(folder)) there.shift();
  const missingToo = ["config", "hooks", "commondir", ...(hasSettingsPerWorkTree(folder) ? ["config.worktree"] : [])];
  return [
    ...missingToo.map((name) => join(folder, name)),
    ...there.map((name) => join(folder, name)).filter((path) => exists(path)),
  ];
}

function hasSettingsPerWorkTree(folder: string): boolean {
  try {
    return /worktreeconfig/i.test(content(join(folder, "config")));
  } catch {
    // Without settings there is no such extension.
    return false;
  }
}

/** The folder of a linked work tree's repository; undefined when it is none, or the repository does not know of it. */
export function repositoryOf(workTree: string): string | undefined {
  try {
    const pointer = join(workTree, ".git");
    if (!lstatSync(pointer).isFile()) return undefined;
    const own = resolve(workTree, content(pointer).replace(/^gitdir: /, ""));
    // The pointer alone says nothing: it came with the folder. The repository has to name the folder too.
    if (realpathSync(resolve(own, content(join(own, "gitdir")))) !== realpathSync(pointer)) return undefined;
    const common = realpathSync(resolve(own, content(join(own, "commondir"))));
    if (dirname(dirname(realpathSync(own))) !== common || !exists(join(common, "objects"))) return undefined;
    return common;
  } catch {
    // A part of it is missing: git cannot work with it either.
    return undefined;
  }
}

/** What stays as it is in the repository of a linked work tree, which the folder of the repository does not hold. */
export function protectedOfRepository(folder: string): string[] {
  const inner = ["modules", "worktrees"].flatMap((kind) => foldersIn(join(folder, kind)));
  return [folder, ...inner].flatMap(obeyedByGit);
}

function foldersIn(folder: string): string[] {
  if (!exists(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

function content(file: string): string {
  return readFileSync(file, "utf8").trimEnd();
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

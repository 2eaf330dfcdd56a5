import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** How many parts of the name of a submodule are looked at. */
const DEEPEST_MODULE = 8;
const PARTS_OF_REPOSITORY = ["HEAD", "config", "objects", "refs"];

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

/** Whether git could take a folder for a repository, or for the part of one that belongs to a work tree. */
export function isRepository(folder: string): boolean {
  // Its HEAD may be missing for a moment: a command could take it away, and bring it back in the next one.
  if (basename(folder) === ".git") return ["HEAD", "config"].some((name) => exists(join(folder, name)));
  return exists(join(folder, "HEAD")) && ["config", "objects", "commondir"].some((name) => exists(join(folder, name)));
}

/** Where the file `.git` of a folder says that the repository is; undefined when there is no such file. */
export function pointedTo(workTree: string): string | undefined {
  try {
    const pointer = join(workTree, ".git");
    return lstatSync(pointer).isDirectory() ? undefined : realpathSync(resolve(workTree, pathIn(pointer)));
  } catch {
    // There is none, or it leads nowhere.
    return undefined;
  }
}

/** The folder of a linked work tree's repository; undefined when it is none, or the repository does not know of it. */
export function repositoryOf(workTree: string): string | undefined {
  try {
    const pointer = join(workTree, ".git");
    if (!lstatSync(pointer).isFile()) return undefined;
    const own = resolve(workTree, pathIn(pointer));
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
  return repositoriesIn(folder).flatMap(obeyedByGit);
}

/** A repository, and those that it holds for its work trees and submodules, whose names may have several parts. */
export function repositoriesIn(folder: string): string[] {
  return [folder, ...foldersIn(join(folder, "worktrees")), ...modulesIn(join(folder, "modules"), DEEPEST_MODULE)];
}

function modulesIn(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return foldersIn(folder).flatMap((inner) => {
    // A part may be missing: a command could take it away, and bring it back in the next one.
    const isModule = PARTS_OF_REPOSITORY.some((name) => exists(join(inner, name)));
    return isModule ? repositoriesIn(inner) : modulesIn(inner, depth - 1);
  });
}

function foldersIn(folder: string): string[] {
  if (!exists(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

/** What a file of git points to with `gitdir: `. */
function pathIn(pointer: string): string {
  return content(pointer).replace(/^gitdir: /, "");
}

function content(file: string): string {
  return readFileSync(file, "utf8").trimEnd();
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

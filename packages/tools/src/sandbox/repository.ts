import { lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isPlaceThere } from "./placeholder.ts";

const DEEPEST_MODULE = 8;
const PARTS_OF_REPOSITORY = ["HEAD", "config", "objects", "refs"];

/**
 * Returns the paths in a repository's folder that change what git does: settings, hooks, and pointers to other parts.
 * Some of these paths may be missing; they are included because commands must not create them.
 */
export function obeyedByGit(folder: string): string[] {
  const there = ["config.worktree", "gitdir", "info/attributes", "objects/info/alternates"];
  if (hasSettingsPerWorkTree(folder)) there.shift();
  const missingToo = ["config", "hooks", "commondir", ...(hasSettingsPerWorkTree(folder) ? ["config.worktree"] : [])];
  return [
    ...missingToo.map((name) => join(folder, name)),
    ...there.map((name) => join(folder, name)).filter((path) => isPlaceThere(path)),
  ];
}

function hasSettingsPerWorkTree(folder: string): boolean {
  try {
    return /worktreeconfig/i.test(content(join(folder, "config")));
  } catch {
    // Without settings, the extension is off.
    return false;
  }
}

/** Returns whether git could take a folder for a repository, or for the part of a repository that serves a work tree. */
export function isRepository(folder: string): boolean {
  // HEAD may be missing for a moment: one command could remove HEAD, and the next command could restore HEAD.
  if (basename(folder) === ".git") return ["HEAD", "config"].some((name) => isPlaceThere(join(folder, name)));
  return (
    isPlaceThere(join(folder, "HEAD")) &&
    ["config", "objects", "commondir"].some((name) => isPlaceThere(join(folder, name)))
  );
}

/** Returns the repository to which a folder's `.git` file points. Undefined without such a file. */
export function linkedRepository(workTree: string): string | undefined {
  try {
    const pointer = join(workTree, ".git");
    return lstatSync(pointer).isDirectory() ? undefined : realpathSync(resolve(workTree, pathIn(pointer)));
  } catch {
    // The file is missing, or points to nothing.
    return undefined;
  }
}

/** Returns the repository of a linked work tree; undefined for other folders, or if the repository does not list the folder. */
export function repositoryOf(workTree: string): string | undefined {
  try {
    const pointer = join(workTree, ".git");
    if (!lstatSync(pointer).isFile()) return undefined;
    const own = resolve(workTree, pathIn(pointer));
    // The pointer file alone proves nothing: it came with the folder. The repository must point back.
    if (realpathSync(resolve(own, content(join(own, "gitdir")))) !== realpathSync(pointer)) return undefined;
    const common = realpathSync(resolve(own, content(join(own, "commondir"))));
    if (dirname(dirname(realpathSync(own))) !== common || !isPlaceThere(join(common, "objects"))) return undefined;
    return common;
  } catch {
    // A part of the repository is missing: git cannot use the repository either.
    return undefined;
  }
}

/** Returns the protected files in the repository of a linked work tree. */
export function protectedOfRepository(folder: string): string[] {
  return repositoriesIn(folder).flatMap(obeyedByGit);
}

/**
 * Returns a repository, with the inner repositories of its work trees and submodules. The name of a submodule can have
 * several parts.
 */
export function repositoriesIn(folder: string): string[] {
  return [folder, ...foldersIn(join(folder, "worktrees")), ...modulesIn(join(folder, "modules"), DEEPEST_MODULE)];
}

function modulesIn(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return foldersIn(folder).flatMap((inner) => {
    // A part may be missing for a moment: one command could remove the part, and the next command could restore the
    // part.
    const isModule = PARTS_OF_REPOSITORY.some((name) => isPlaceThere(join(inner, name)));
    return isModule ? repositoriesIn(inner) : modulesIn(inner, depth - 1);
  });
}

function foldersIn(folder: string): string[] {
  if (!isPlaceThere(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

function pathIn(pointer: string): string {
  return content(pointer).replace(/^gitdir: /, "");
}

function content(file: string): string {
  return readFileSync(file, "utf8").trimEnd();
}

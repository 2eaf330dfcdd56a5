import { lstatSync, readFileSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { gitlinksIn } from "./git-index.ts";
import { isVacant } from "./placeholder.ts";
import { unusedName } from "./protected-links.ts";
import { isPathWithin } from "./protected-places.ts";
import { linkedRepository, repositoriesIn } from "./repository.ts";

const DEEPEST = 16;
const MOST = 5_000;

interface Submodule {
  /** The `.git` of the submodule: a folder, or a file that points to the repository. */
  readonly pointer: string;
  readonly repository: string | undefined;
  readonly identity: string;
}

/**
 * Finds submodules that commands create. `git status` enters each submodule folder of the index and obeys the settings
 * of the repository there. Submodules from before a command are protected like other repositories. A submodule that a
 * command created or added to the index is moved aside before another program uses it.
 */
export class Submodules {
  known: readonly Submodule[] = [];
  #workTrees: readonly WorkTree[] = [];

  /** Stores the current submodules of these repositories. Call this while no command of the workspace runs. */
  remember(repositories: Iterable<string>): readonly Submodule[] {
    this.#workTrees = [...repositories].flatMap(workTreesOf);
    this.known = this.#workTrees.flatMap(submodulesOf);
    return this.known;
  }

  putAside(): string[] {
    const known = new Set(this.known.map(({ pointer, identity }) => `${pointer} ${identity}`));
    const notices: string[] = [];
    for (const tree of this.#workTrees) {
      for (const { pointer, identity } of submodulesOf(tree)) {
        if (known.has(`${pointer} ${identity}`)) continue;
        const aside = unusedName(pointer);
        const folder = relative(tree.folder, dirname(pointer));
        try {
          renameSync(pointer, aside);
        } catch (error) {
          // The submodule is gone.
          if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
          notices.push(
            `A command added the repository in ${folder} as a submodule, and Banyan could not rename the .git of this submodule (${(error as Error).message}). git would obey the submodule's settings. Remove ${pointer} before you use git here.`,
          );
          continue;
        }
        notices.push(
          `A command added the repository in ${folder} as a submodule. git would obey the settings of this repository, so its .git was renamed to ${basename(aside)}. Check its config and hooks before you rename it back.`,
        );
      }
    }
    return notices;
  }
}

interface WorkTree {
  readonly folder: string;
  readonly repository: string;
}

function workTreesOf(repository: string): WorkTree[] {
  return repositoriesIn(repository).flatMap((inner): WorkTree[] => {
    if (basename(inner) === ".git") return [{ folder: dirname(inner), repository: inner }];
    try {
      const pointer = readFileSync(join(inner, "gitdir"), "utf8").trimEnd();
      return [{ folder: realpathSync(dirname(pointer)), repository: inner }];
    } catch {
      // A bare repository, or the repository of a submodule, which is found through its folder.
      return [];
    }
  });
}

function submodulesOf(tree: WorkTree): Submodule[] {
  const found: Submodule[] = [];
  const open = [{ ...tree, depth: 0 }];
  for (let at = open.pop(); at && found.length < MOST; at = open.pop()) {
    for (const path of gitlinksIn(at.repository)) {
      const folder = join(at.folder, path);
      const submodule = folder !== at.folder && isPathWithin(at.folder, folder) ? submoduleIn(folder) : undefined;
      if (!submodule) continue;
      found.push(submodule);
      const { repository } = submodule;
      if (repository !== undefined && at.depth < DEEPEST) open.push({ folder, repository, depth: at.depth + 1 });
    }
  }
  return found;
}

function submoduleIn(folder: string): Submodule | undefined {
  const pointer = join(folder, ".git");
  try {
    // git does not follow a link here.
    if (realpathSync(folder) !== folder) return undefined;
    // For git, an empty folder is no repository. The folder may be the placeholder of a program that works in this
    // folder.
    if (isVacant(pointer)) return undefined;
    const { dev, ino, birthtimeMs } = lstatSync(pointer);
    const isFolder = statSync(pointer).isDirectory();
    const repository = isFolder ? realpathSync(pointer) : linkedRepository(folder);
    const content = isFolder ? "" : readFileSync(pointer, "utf8");
    return { pointer, repository, identity: JSON.stringify([dev, ino, birthtimeMs, content, repository]) };
  } catch {
    // Without a `.git`, git stops here.
    return undefined;
  }
}

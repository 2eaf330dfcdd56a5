import { lstatSync, readFileSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { gitlinksIn } from "./git-index.ts";
import { isVacant } from "./placeholder.ts";
import { unusedName } from "./protected-links.ts";
import { isWithin } from "./protected-places.ts";
import { pointedTo, repositoriesIn } from "./repository.ts";

/** How deep submodules of submodules are looked at, and how many in all: git looks at each of them too. */
const DEEPEST = 16;
const MOST = 5_000;

/** A submodule as the index of its repository has it, with a `.git` in its folder. */
interface Submodule {
  /** Its `.git`: a folder, or a file that says where the repository is. */
  readonly pointer: string;
  readonly repository: string | undefined;
  /** Another one at the same place has another. */
  readonly identity: string;
}

/**
 * Submodules that commands make: `git status` looks into each folder that the index calls a submodule, and obeys the settings
 * of the repository that stands there. One that was there before is protected as other repositories are; one that a command
 * made, or put into the index, is put aside before anybody looks.
 */
export class Submodules {
  /** Those that were there before. */
  known: readonly Submodule[] = [];
  #workTrees: readonly WorkTree[] = [];

  /** What must stay as it is while commands run. `repositories` are those of the workspace; none of their commands runs now. */
  remember(repositories: Iterable<string>): readonly Submodule[] {
    this.#workTrees = [...repositories].flatMap(workTreesOf);
    this.known = this.#workTrees.flatMap(submodulesOf);
    return this.known;
  }

  /** Puts aside what is not as it was, and says so, a sentence for each. */
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
          // It has gone since.
          if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
          notices.push(
            `The repository in ${folder} is new as a submodule, and could not be put aside (${(error as Error).message}): git obeys its settings. Remove ${pointer} before you or your prompt look with git.`,
          );
          continue;
        }
        notices.push(
          `The repository in ${folder} is new as a submodule, and git would obey its settings as soon as a prompt looks: its .git is now ${basename(aside)}. Look at its config and hooks, and rename it back outside of the sandbox.`,
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

/** The folders that a repository is checked out in. */
function workTreesOf(repository: string): WorkTree[] {
  return repositoriesIn(repository).flatMap((inner): WorkTree[] => {
    if (basename(inner) === ".git") return [{ folder: dirname(inner), repository: inner }];
    try {
      const pointer = readFileSync(join(inner, "gitdir"), "utf8").trimEnd();
      return [{ folder: realpathSync(dirname(pointer)), repository: inner }];
    } catch {
      // A bare one, or the repository of a submodule: that is found through its folder.
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
      const submodule = folder !== at.folder && isWithin(at.folder, folder) ? submoduleIn(folder) : undefined;
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
    // Through a link git does not look.
    if (realpathSync(folder) !== folder) return undefined;
    // git takes an empty folder for no repository. It may be the placeholder of a program that works in there.
    if (isVacant(pointer)) return undefined;
    const { dev, ino, birthtimeMs } = lstatSync(pointer);
    const isFolder = statSync(pointer).isDirectory();
    const repository = isFolder ? realpathSync(pointer) : pointedTo(folder);
    const content = isFolder ? "" : readFileSync(pointer, "utf8");
    return { pointer, repository, identity: JSON.stringify([dev, ino, birthtimeMs, content, repository]) };
  } catch {
    // There is none: git looks no further.
    return undefined;
  }
}

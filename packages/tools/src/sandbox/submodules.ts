import { lstatSync, readFileSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isWithin } from "./places.ts";
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
        } catch {
          // It has gone since, or something is mounted on it: then it is one that is protected.
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

function unusedName(pointer: string): string {
  for (let number = 1; ; number++) {
    const name = `${pointer}-put-aside${number === 1 ? "" : `-${number}`}`;
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}

const GITLINK = 0o160000;
/** Times, ids and modes in front of the name of an object. */
const FIXED = 40;
const SHARED = "link";

/** The paths that an index calls submodules: `git help index-format`, versions 2 to 4. None where it cannot be read, as for git. */
function gitlinksIn(repository: string): string[] {
  try {
    const width = /objectformat\s*=\s*sha256/i.test(configOf(repository)) ? 32 : 20;
    const index = readFileSync(join(repository, "index"));
    const { names, links, shared } = entriesOf(index, width);
    if (shared === undefined) return links;
    // A split index: what it does not say anew stands in another file. An entry without a name replaces any one of that.
    const others = entriesOf(readFileSync(join(repository, `sharedindex.${shared}`)), width);
    return [...links, ...(names.includes("") ? others.names : others.links)];
  } catch {
    return [];
  }
}

/** The settings of a repository; those of a linked work tree stand in the one that it belongs to. */
function configOf(repository: string): string {
  try {
    const common = readFileSync(join(repository, "commondir"), "utf8").trimEnd();
    return readFileSync(join(repository, common, "config"), "utf8");
  } catch {
    return readFileSync(join(repository, "config"), "utf8");
  }
}

interface Entries {
  readonly names: string[];
  readonly links: string[];
  readonly shared: string | undefined;
}

function entriesOf(index: Buffer, width: number): Entries {
  if (index.toString("latin1", 0, 4) !== "DIRC") throw new Error("This is no index.");
  const version = index.readUInt32BE(4);
  const names: string[] = [];
  const links: string[] = [];
  let at = 12;
  let name: Buffer = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const mode = index.readUInt32BE(at + 24);
    const flags = index.readUInt16BE(at + FIXED + width);
    const isExtended = version >= 3 && (flags & 0x4000) !== 0;
    let from = at + FIXED + width + (isExtended ? 4 : 2);
    if (version >= 4) {
      const dropped = numberAt(index, from);
      from = dropped.end;
      const end = index.indexOf(0, from);
      name = Buffer.concat([name.subarray(0, name.length - dropped.value), index.subarray(from, end)]);
      at = end + 1;
    } else {
      const end = index.indexOf(0, from);
      name = index.subarray(from, end);
      // Each entry is filled up to a multiple of eight, with one to eight bytes of 0.
      at += Math.ceil((end + 1 - at) / 8) * 8;
    }
    names.push(name.toString());
    if ((mode & 0o170000) === GITLINK) links.push(name.toString());
  }
  return { names, links, shared: sharedIn(index.subarray(at, index.length - width), width) };
}

/** The number of git's variable width: seven bits a byte, each further byte counts from where the one before cannot reach. */
function numberAt(index: Buffer, from: number): { readonly value: number; readonly end: number } {
  let end = from;
  let byte = index.readUInt8(end++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = index.readUInt8(end++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end };
}

/** Of the extensions behind the entries, the name of the file that holds the rest of a split index. */
function sharedIn(extensions: Buffer, width: number): string | undefined {
  for (let at = 0; at + 8 <= extensions.length; at += 8 + extensions.readUInt32BE(at + 4)) {
    if (extensions.toString("latin1", at, at + 4) !== SHARED) continue;
    const name = extensions.toString("hex", at + 8, at + 8 + width);
    return /^0+$/.test(name) ? undefined : name;
  }
  return undefined;
}

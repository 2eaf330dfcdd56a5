import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

/** The files and folders of a project that say something to this program. */
export interface ProjectPlaces {
  /** The folder of the project, without links. */
  readonly root: string;
  /** The folder from which on instructions are read: the root, and of a submodule of git that of the repository around it. */
  readonly around: string;
  readonly settings: string;
  /** MCP servers in the file that other programs read too. */
  readonly mcp: string;
  readonly agents: string;
  /** Folders; of two of one name, that of the later one counts. */
  readonly commands: readonly string[];
  readonly skills: readonly string[];
  /** Settings of Claude Code, of which the hooks are read. */
  readonly claude: readonly string[];
}

/** The project that a folder belongs to: the repository of git around it, else the folder alone. */
export function projectOf(directory: string): ProjectPlaces {
  const root = repositoryAround(realPath(directory)) ?? realPath(directory);
  const own = join(root, ".banyan");
  const claude = join(root, ".claude");
  return {
    root,
    around: aroundSubmodule(root),
    settings: join(own, "settings.json"),
    mcp: join(root, ".mcp.json"),
    agents: join(own, "agents"),
    commands: [join(claude, "commands"), join(own, "commands")],
    skills: [join(claude, "skills"), join(own, "skills")],
    claude: [join(claude, "settings.json"), join(claude, "settings.local.json")],
  };
}

/** The folders from the root of a project down to a folder in it, both included. */
export function foldersDownTo(root: string, directory: string): string[] {
  const folders: string[] = [];
  for (let folder = realPath(directory); leadsInto(root, folder); folder = dirname(folder)) folders.unshift(folder);
  return folders;
}

/** Whether a path leads into a folder, its links followed. */
export function leadsInto(folder: string, path: string): boolean {
  const real = realPath(path);
  return real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The root of the repository that a submodule belongs to, however deep it lies; of any other folder the folder itself. */
function aroundSubmodule(root: string): string {
  const outer = isSubmodule(join(root, ".git")) ? repositoryAround(dirname(root)) : undefined;
  return outer === undefined ? root : aroundSubmodule(outer);
}

/** Returns whether a `.git` is the file that leads to a submodule's data in the repository around it. */
function isSubmodule(git: string): boolean {
  try {
    return lstatSync(git).isFile() && /^gitdir: .*[/\\]modules[/\\]/.test(readFileSync(git, "utf8"));
  } catch {
    // There is none, or nobody may read it: then it leads nowhere.
    return false;
  }
}

function repositoryAround(directory: string): string | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Of what does not exist yet, as far as it does. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const whole = resolve(path);
    const around = dirname(whole);
    return around === whole ? whole : join(realPath(around), basename(whole));
  }
}

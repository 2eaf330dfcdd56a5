import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

/** The paths of the files and folders of a project from which Banyan reads configuration. */
export interface ProjectPaths {
  /** The folder of the project, without links. */
  readonly root: string;
  /** The first folder for instructions: the root, or the root of the repository around a submodule. */
  readonly around: string;
  readonly settings: string;
  /** The file with MCP servers that other programs share. */
  readonly mcp: string;
  readonly agents: string;
  /** Folders of commands. Later folders take precedence. */
  readonly commands: readonly string[];
  readonly skills: readonly string[];
  /** Settings files of Claude Code. */
  readonly claude: readonly string[];
}

/** Returns the project of a folder: the git repository around it, or the folder alone. */
export function projectOf(directory: string): ProjectPaths {
  const root = repositoryOfProject(realPath(directory)) ?? realPath(directory);
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

/** Returns the folders from a project's root down to a folder in it, both included. */
export function foldersDownTo(root: string, directory: string): string[] {
  const folders: string[] = [];
  for (let folder = realPath(directory); pathLeadsInto(root, folder); folder = dirname(folder)) folders.unshift(folder);
  return folders;
}

/** Returns whether a path leads into a folder after links are resolved. */
export function pathLeadsInto(folder: string, path: string): boolean {
  const real = realPath(path);
  return real === folder || real.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The outermost repository around a submodule at any depth; any other folder itself. */
function aroundSubmodule(root: string): string {
  const outer = isSubmodule(join(root, ".git")) ? repositoryOfProject(dirname(root)) : undefined;
  return outer === undefined ? root : aroundSubmodule(outer);
}

/** For a submodule, `.git` is a file that leads to the outer repository. */
function isSubmodule(git: string): boolean {
  try {
    return lstatSync(git).isFile() && /^gitdir: .*[/\\]modules[/\\]/.test(readFileSync(git, "utf8"));
  } catch {
    return false;
  }
}

function repositoryOfProject(directory: string): string | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Resolves the existing part of a path; the rest stays as written. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const whole = resolve(path);
    const around = dirname(whole);
    return around === whole ? whole : join(realPath(around), basename(whole));
  }
}

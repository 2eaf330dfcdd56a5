import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The limits of what snapshots keep. See {@link WorkspaceSnapshots}. */
export interface SnapshotBounds {
  /** Bytes of one file. */
  readonly file: number;
  /** Maximum bytes of all files that git ignores. */
  readonly ignored: number;
  /** Maximum bytes of all contents of a workspace, including earlier contents. */
  readonly all: number;
  /** Maximum number of files and folders. A larger workspace has no snapshots. */
  readonly entries: number;
}

export const BOUNDS: SnapshotBounds = {
  file: 64 * 1024 ** 2,
  ignored: 200 * 1024 ** 2,
  all: 4 * 1024 ** 3,
  entries: 200_000,
};

/** A folder that programs fill again from other files. */
interface CacheFolder {
  /** The folder is left out only if a file with one of these names is beside the folder. Absent: the folder's name suffices. */
  readonly beside?: readonly string[];
  /** The folder is left out only if it contains a file with one of these names. */
  readonly inside?: readonly string[];
}

const NODE = ["package.json"];
const GRADLE = ["build.gradle", "build.gradle.kts"];
const VENV = { inside: ["pyvenv.cfg"] };
const ALWAYS: CacheFolder = {};

/** Folders that lock files and build programs rebuild, by name. */
const CACHES: Readonly<Record<string, CacheFolder>> = {
  ".cache": ALWAYS,
  ".dart_tool": { beside: ["pubspec.yaml"] },
  ".gradle": { beside: GRADLE },
  ".mypy_cache": ALWAYS,
  ".next": { beside: NODE },
  ".nox": ALWAYS,
  ".nuxt": { beside: NODE },
  ".parcel-cache": ALWAYS,
  ".pnpm-store": ALWAYS,
  ".pytest_cache": ALWAYS,
  ".ruff_cache": ALWAYS,
  ".stack-work": ALWAYS,
  ".svelte-kit": { beside: NODE },
  ".terraform": ALWAYS,
  ".tox": ALWAYS,
  ".turbo": ALWAYS,
  ".venv": VENV,
  ".yarn": { beside: ["yarn.lock"] },
  ".zig-cache": ALWAYS,
  _build: { beside: ["mix.exs", "dune-project"] },
  __pycache__: ALWAYS,
  build: { beside: GRADLE },
  deps: { beside: ["mix.exs"] },
  "dist-newstyle": ALWAYS,
  "elm-stuff": ALWAYS,
  env: VENV,
  node_modules: { beside: [...NODE, "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"] },
  obj: { beside: ["project.json", "packages.lock.json"] },
  Pods: { beside: ["Podfile", "Podfile.lock"] },
  target: { beside: ["Cargo.toml", "pom.xml", "build.sbt"] },
  vendor: { beside: ["composer.json", "Gemfile", "go.mod"] },
  venv: VENV,
};

/**
 * Returns whether a folder is a cache that can be rebuilt from other files. `siblings` are the names of the files
 * beside the folder. `isInside(name)` returns whether the folder contains a file with this name.
 */
export function isCache(name: string, siblings: ReadonlySet<string>, isInside: (name: string) => boolean): boolean {
  if (!Object.hasOwn(CACHES, name)) return false;
  const { beside, inside } = CACHES[name] ?? {};
  return (beside?.some((file) => siblings.has(file)) ?? true) && (inside?.some(isInside) ?? true);
}

/** Returns whether a folder is in a git repository. Without one, no file is ignored, so caches need no rule of git. */
export function isBelowRepository(root: string): boolean {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** Something in the workspace that no snapshot keeps. See {@link WorkspaceSnapshots}. */
export interface LeftOut {
  readonly path: string;
  /**
   * Why no snapshot keeps the path. `cache`: a folder that can be rebuilt from other files. `special`: not a file, such
   * as a pipe. `name`: the name is not text.
   */
  readonly why: "cache" | "large" | "ignored" | "full" | "special" | "unreadable" | "name";
  /** Bytes, if known. */
  readonly size?: number | undefined;
}

/** A recorded moment, with the paths that no snapshot keeps. */
export interface MomentRecord {
  readonly moment: number;
  readonly leftOut: readonly LeftOut[];
  /** The repositories, which no snapshot keeps, and the files with another name, which may be outside. */
  readonly untouched: readonly string[];
  /** Number of changed files and links. */
  readonly changedFiles: number;
}

import { readdirSync } from "node:fs";
import { cp, lstat, mkdir, readdir, readFile, readlink, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix, relative, sep } from "node:path";

/** The files of a case. */
export interface CaseFiles {
  /** An absolute path. The content is copied into each attempt's folder. */
  readonly folder?: string;
  /** File contents by path, written after the copy. */
  readonly files: Readonly<Record<string, string>>;
}

/** A file or link of the case's folder, or a text in the case. */
export type CaseFile = { readonly from: string } | { readonly content: string };

/** Makes a folder's content equal to the files of a case. Rejects if a path leaves the folder through a link. */
export async function fillFolder(directory: string, { folder, files }: CaseFiles): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) await rm(join(directory, name), { recursive: true, force: true });
  if (folder !== undefined) await cp(folder, directory, { recursive: true, verbatimSymlinks: true });
  const root = await realpath(directory);
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await mkdir(dirname(file), { recursive: true });
    const around = await realpath(dirname(file));
    if (around !== root && !around.startsWith(root + sep))
      throw new Error(`${path} would be written through a link that leads out of the folder`);
    await rm(file, { force: true });
    await writeFile(file, content, { flag: "wx" });
  }
}

/** The files that a check set back to the content of the case. */
export interface RestoredFiles extends AsyncDisposable {
  /** Paths that differ from the case. Until disposal, these paths have the content of the case. */
  readonly restored: readonly string[];
  /** Changed paths that the command names. The check does not restore them. */
  readonly named: readonly string[];
}

/**
 * Restores files before a check: the files in `restore`, or else files whose names look like tests. Disposing undoes
 * this.
 */
export async function restoreFiles(
  directory: string,
  one: CaseFiles,
  {
    command = "",
    restore,
  }: { readonly command?: string | undefined; readonly restore?: readonly string[] | undefined },
): Promise<RestoredFiles> {
  const files = readCaseFiles(one);
  const wanted = restore
    ? [...files.keys()].filter((path) => restore.some((name) => isPathIn(path, normalizePath(name))))
    : [...files.keys()].filter(isTestPath);
  const foreign = restore ? await foreignFiles(directory, files, restore.map(normalizePath)) : [];
  const restored = [...(await changedOf(directory, files, wanted)), ...foreign];
  const named = restore ? [] : pathsInCommand(command).filter((path) => files.has(path) && !restored.includes(path));
  const undo = await putBefore(directory, files, restored, asideOf(directory));
  return {
    restored,
    named: await changedOf(directory, files, named),
    [Symbol.asyncDispose]: () => undo[Symbol.asyncDispose](),
  };
}

/** Gives paths the content of `files`. Until disposal, their present content is in the folder `aside`. */
export async function putBefore(
  directory: string,
  files: ReadonlyMap<string, CaseFile>,
  paths: readonly string[],
  aside: string,
): Promise<AsyncDisposable> {
  await using undone = new AsyncDisposableStack();
  if (paths.length > 0) {
    await mkdir(aside, { mode: 0o700 });
    undone.defer(() => rm(aside, { recursive: true, force: true }));
    for (const [index, path] of paths.entries())
      undone.defer(await replace(directory, path, files.get(path), join(aside, String(index))));
  }
  return undone.move();
}

/** Removes the folder of an interrupted attempt. */
export async function removeFolder(directory: string): Promise<void> {
  for (const folder of [directory, asideOf(directory)]) await rm(folder, { recursive: true, force: true });
}

function asideOf(directory: string): string {
  return `${directory}.aside`;
}

/** Returns the paths of a case's files; undefined if any of these paths is at or below `path`. */
export function pathsWithout(one: CaseFiles, path: string): readonly string[] | undefined {
  const paths = [...readCaseFiles(one).keys()];
  return paths.some((file) => isPathIn(file, normalizePath(path))) ? undefined : paths;
}

export function readCaseFiles({ folder, files }: CaseFiles): Map<string, CaseFile> {
  const found = new Map<string, CaseFile>();
  if (folder !== undefined)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const from = join(entry.parentPath, entry.name);
      if (!entry.isDirectory()) found.set(relative(folder, from).split(sep).join("/"), { from });
    }
  for (const [path, content] of Object.entries(files)) found.set(normalizePath(path), { content });
  return found;
}

/** `./a//b/` becomes `a/b`. */
function normalizePath(path: string): string {
  return posix.normalize(path).replace(/\/$/, "");
}

function isPathIn(path: string, around: string): boolean {
  return path === around || path.startsWith(`${around}/`) || around === ".";
}

/** Names of tests and their data, in common languages and test runners. */
const TEST_NAME =
  /(?:^|[._-])(?:(?:con)?tests?|specs?|checks?|verify|expected|golden|fixtures?|snap(?:shots?)?)(?:[._-]|$)|[a-z\d](?:Tests?|Spec)\.\w+$/;

export function isTestPath(path: string): boolean {
  const parts = path.split("/");
  return (
    !parts.some((part) => part === "node_modules" || part === ".git") && parts.some((part) => TEST_NAME.test(part))
  );
}

/** The files that define what these programs run. */
const MANIFESTS: Readonly<Record<string, string>> = {
  npm: "package.json",
  npx: "package.json",
  pnpm: "package.json",
  yarn: "package.json",
  bun: "package.json",
  make: "Makefile",
  just: "justfile",
};

function pathsInCommand(command: string): string[] {
  const words = command.match(/(?:[^\s"'`|&;<>()]|"[^"]*"|'[^']*')+/g) ?? [];
  const paths = words.map((word) => word.replaceAll(/["']/g, "")).map((word) => MANIFESTS[word] ?? normalizePath(word));
  return [...new Set(paths)];
}

export async function changedOf(directory: string, files: ReadonlyMap<string, CaseFile>, paths: readonly string[]) {
  const changed: string[] = [];
  for (const path of paths) {
    const file = files.get(path);
    if (file && !(await isUnchangedFile(join(directory, path), file))) changed.push(path);
  }
  return changed;
}

async function isUnchangedFile(path: string, file: CaseFile): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return false;
  if ("content" in file) return found.isFile() && (await readFile(path, "utf8")) === file.content;
  const { from } = file;
  const own = await lstat(from);
  if (own.isSymbolicLink()) return found.isSymbolicLink() && (await readlink(path)) === (await readlink(from));
  if (!found.isFile() || found.size !== own.size || (found.mode & 0o777) !== (own.mode & 0o777)) return false;
  return (await readFile(path)).equals(await readFile(from));
}

async function foreignFiles(directory: string, files: ReadonlyMap<string, CaseFile>, folders: readonly string[]) {
  const foreign: string[] = [];
  for (const folder of folders) {
    const whole = join(directory, folder);
    if (!(await lstat(whole).catch(() => undefined))?.isDirectory()) continue;
    for (const entry of await readdir(whole, { recursive: true, withFileTypes: true })) {
      const path = relative(directory, join(entry.parentPath, entry.name)).split(sep).join("/");
      if (!entry.isDirectory() && !files.has(path)) foreign.push(path);
    }
  }
  return foreign;
}

/** Returns a function that puts the agent's file back. */
async function replace(directory: string, path: string, file: CaseFile | undefined, aside: string) {
  const whole = join(directory, path);
  let place = directory;
  // If the agent made a parent a link, move the link: the case's file would end up elsewhere.
  for (const part of path.split("/")) {
    place = join(place, part);
    if (!(await lstat(place).catch(() => undefined))?.isDirectory()) break;
  }
  const wasThere = (await lstat(place).catch(() => undefined)) !== undefined;
  if (wasThere) await move(place, aside);
  if (file) {
    await mkdir(dirname(whole), { recursive: true });
    if ("content" in file) await writeFile(whole, file.content);
    else await cp(file.from, whole, { verbatimSymlinks: true });
  }
  return async () => {
    await rm(place, { recursive: true, force: true });
    if (!wasThere) return;
    await mkdir(dirname(place), { recursive: true });
    await move(aside, place);
  };
}

/** Moves a file or folder. The target can be on another file system. */
export async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    await rm(from, { recursive: true, force: true });
  }
}

import { lstatSync } from "node:fs";
import { cp, lstat, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { changedOf, move, putBefore, readCaseFiles } from "./case-files.ts";
import { decidesTests, MADE_BY_PROGRAMS, pathsStartedBy } from "./decides-tests.ts";

/** Returns the folder for the copies of all goals. `data`: the data folder of the program. */
export function goalCopies({ data }: { readonly data: string }): string {
  return join(data, "goals");
}

/** Bounds of the copies of one goal. */
const MOST = { files: 20_000, bytes: 256 * 1024 * 1024 };

const DAY = 24 * 3_600_000;
/** Milliseconds after which the copies of a goal that was not reached are removed. */
const KEPT = 30 * DAY;

/** The record of the copies that `keep` makes. */
interface KeptNote {
  /** False if there were too many files to copy, or files that were too large. */
  readonly isWhole: boolean;
  /** Paths of files that the commands of the goal start. */
  readonly started: readonly string[];
  /** The identities of files and folders that could not be copied, by path. Absent in notes of earlier versions. */
  readonly uncopied?: Readonly<Record<string, string>>;
}

/** The difference between the first and the present state of a workspace. */
export interface StateChanges {
  /** Paths that were changed, removed or added. */
  readonly changed: readonly string[];
  /** Paths that could not be copied when the goal began. Their first content is not known. */
  readonly uncopied: readonly string[];
}

/** Present contents that a check has moved aside, so that a later process can put them back. */
interface Aside {
  readonly directory: string;
  /** The files that were moved. `place` is the new path, or a link to it. */
  readonly moved: readonly { readonly path: string; readonly place: string; readonly wasThere: boolean }[];
}

/**
 * The tests, runner configurations, scripts and lock files of a workspace, as they were when a goal began. `folder`
 * contains the copies, where commands cannot reach them.
 *
 * The content store of snapshots cannot replace these copies: it leaves out large files and caches, and removes old
 * moments while a goal still continues. A check also moves the present files aside, because only a moved file returns
 * unchanged if nobody can read it.
 */
export class FirstState {
  readonly #folder: string;
  readonly #commands: readonly string[];

  constructor(folder: string, commands: readonly string[]) {
    this.#folder = folder;
    this.#commands = commands;
  }

  get #files(): string {
    return join(this.#folder, "files");
  }

  /** Copies the files. Removes copies of old goals beside them. */
  async keep(directory: string): Promise<void> {
    await removeOld(dirname(this.#folder));
    await rm(this.#folder, { recursive: true, force: true });
    await mkdir(this.#files, { recursive: true, mode: 0o700 });
    const started = await pathsStartedBy(directory, this.#commands);
    const { paths, unlisted } = await decidingPaths(directory, started);
    const uncopied: Record<string, string> = {};
    const leaveOut = async (path: string) => {
      const identity = await stateOnDisk(join(directory, path));
      if (identity !== undefined) uncopied[path] = identity;
    };
    for (const folder of unlisted) await leaveOut(folder);
    let size = 0;
    for (const path of paths) size += (await lstat(join(directory, path)).catch(() => undefined))?.size ?? 0;
    const isWhole = paths.length <= MOST.files && size <= MOST.bytes;
    for (const path of isWhole ? paths : []) {
      const to = join(this.#files, path);
      try {
        await mkdir(dirname(to), { recursive: true });
        await cp(join(directory, path), to, { verbatimSymlinks: true });
      } catch {
        // The goal begins without the copy. The file counts as changed as soon as its identity is another one.
        await leaveOut(path);
        // A part of a copy that stays shows a change too many, and hides none.
        await rm(to, { force: true }).catch(() => {});
      }
    }
    const note: KeptNote = { isWhole, started, uncopied };
    await writeFile(join(this.#folder, "kept.json"), JSON.stringify(note));
  }

  /** Returns the changes since the goal began; nothing if the first state is not known. */
  async changes(directory: string): Promise<StateChanges | undefined> {
    const note = await readFile(join(this.#folder, "kept.json"), "utf8").catch(() => undefined);
    if (note === undefined) return undefined;
    const { isWhole, started, uncopied = {} } = JSON.parse(note) as KeptNote;
    if (!isWhole) return undefined;
    const isSame = async (path: string) => uncopied[path] === (await stateOnDisk(join(directory, path)));
    const files = readCaseFiles({ folder: this.#files, files: {} });
    // A script that is new may start further files.
    const now = await pathsStartedBy(directory, this.#commands);
    const { paths } = await decidingPaths(directory, [...started, ...now]);
    const changed = new Set(await changedOf(directory, files, [...files.keys()]));
    for (const path of paths) if (!files.has(path) && !Object.hasOwn(uncopied, path)) changed.add(path);
    for (const path of Object.keys(uncopied)) if (!(await isSame(path))) changed.add(path);
    return { changed: [...changed].sort(), uncopied: Object.keys(uncopied).sort() };
  }

  /** Runs `work` while the changed files have their first content. Then the present content is back. */
  async during<Result>(directory: string, changed: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const files = readCaseFiles({ folder: this.#files, files: {} });
    const journal = join(this.#folder, "aside.json");
    const moved = changed.map((path) => ({ path, ...placeOf(directory, path) }));
    await writeFile(`${journal}.new`, JSON.stringify({ directory, moved } satisfies Aside), { flush: true });
    await rename(`${journal}.new`, journal);
    try {
      await using _first = await putBefore(directory, files, changed, join(this.#folder, "aside"));
      return await work();
    } finally {
      await rm(journal, { force: true });
    }
  }

  /** Lets the copies be removed after a day. Until then, a restart that forgot the last check can repeat the check. */
  async release(): Promise<void> {
    const modified = new Date(Date.now() - KEPT + DAY);
    await utimes(this.#folder, modified, modified);
  }
}

/** Puts back the files that a stopped process had moved aside. `folder` contains the copies of all goals. */
export async function settleFirstStates(folder: string): Promise<void> {
  for (const goal of await readdir(folder).catch(() => [])) {
    const journal = join(folder, goal, "aside.json");
    const text = await readFile(journal, "utf8").catch(() => undefined);
    if (text === undefined) continue;
    const { directory, moved } = JSON.parse(text) as Aside;
    const aside = join(folder, goal, "aside");
    for (const [index, { path, place, wasThere }] of [...moved.entries()].reverse()) {
      const kept = join(aside, String(index));
      const isKept = (await lstat(kept).catch(() => undefined)) !== undefined;
      if (isKept) {
        await rm(place, { recursive: true, force: true });
        await mkdir(dirname(place), { recursive: true });
        await move(kept, place);
      } else if (!wasThere) await rm(join(directory, path), { recursive: true, force: true });
    }
    await rm(aside, { recursive: true, force: true });
    await rm(journal, { force: true });
  }
}

/** Returns the path, or the link on its way, and whether something is there. */
function placeOf(directory: string, path: string): { readonly place: string; readonly wasThere: boolean } {
  let place = directory;
  for (const part of path.split("/")) {
    place = join(place, part);
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (!found?.isDirectory()) return { place, wasThere: found !== undefined };
  }
  return { place, wasThere: true };
}

/** Returns a text that differs after each change of a file or folder; nothing if nothing is there. */
async function stateOnDisk(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found && `${found.ino} ${found.mode} ${found.size} ${found.ctimeNs}`;
}

/**
 * Returns the paths of all files that decide about tests, and the `started` files that are there. `unlisted`: folders
 * that cannot be read.
 */
async function decidingPaths(
  directory: string,
  started: readonly string[],
): Promise<{ readonly paths: readonly string[]; readonly unlisted: readonly string[] }> {
  const found = new Set<string>();
  const unlisted: string[] = [];
  for (const folders = [directory]; folders.length > 0; ) {
    const folder = folders.pop() ?? directory;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (!entries) unlisted.push(pathBelowFolder(directory, folder));
    for (const entry of entries ?? []) {
      const whole = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!MADE_BY_PROGRAMS.has(entry.name)) folders.push(whole);
        continue;
      }
      const path = pathBelowFolder(directory, whole);
      if ((entry.isFile() || entry.isSymbolicLink()) && decidesTests(path)) found.add(path);
    }
  }
  for (const path of started) {
    if (path.startsWith("/") || path.startsWith("..")) continue;
    if ((await lstat(join(directory, path)).catch(() => undefined))?.isFile()) found.add(path);
  }
  return { paths: [...found], unlisted };
}

function pathBelowFolder(directory: string, path: string): string {
  return relative(directory, path).split(sep).join("/");
}

async function removeOld(folder: string): Promise<void> {
  for (const goal of await readdir(folder).catch(() => [])) {
    const { mtimeMs } = (await stat(join(folder, goal)).catch(() => undefined)) ?? { mtimeMs: Date.now() };
    if (Date.now() - mtimeMs > KEPT) await rm(join(folder, goal), { recursive: true, force: true });
  }
}

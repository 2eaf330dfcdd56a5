import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** Content of a `commondir` file, which names the folder of the rest of a repository. This content has no effect. */
const HERE = ".\n";
const NEVER_ENTERED = ["refs", "objects"];

/** The modification time of each placeholder. Distinguishes a placeholder from an empty folder of the user. */
const MADE = new Date(Date.UTC(1990, 0, 1));

/**
 * Creates a file or folder at a missing path, so that the path can be mounted read-only. git ignores an empty folder,
 * and a `commondir` that contains `.` has no effect. Throws if the path exists or cannot be created.
 */
export function makePlaceholder(path: string): void {
  if (isCommondir(path) && isPlaceThere(join(dirname(path), "HEAD"))) writeFileSync(path, HERE, { flag: "wx" });
  // git enters the `refs` of a repository; other programs see only an empty folder.
  else if (NEVER_ENTERED.includes(basename(path))) mkdirSync(path, { mode: 0o444 });
  else mkdirSync(path);
  utimesSync(path, MADE, MADE);
}

/** Removes a path if the path is a placeholder. */
export function removePlaceholder(path: string): void {
  try {
    const stats = lstatSync(path);
    if (!isMade(stats)) return;
    if (stats.isDirectory()) rmdirSync(path);
    else if (isVacant(path)) rmSync(path);
  } catch {
    // Another program removed the placeholder, or the user created a file there.
  }
}

/** Returns whether the path is a placeholder of any program. */
export function isPlaceholder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && isMade(stats) && isVacant(path);
}

function isMade({ mtimeMs }: Stats): boolean {
  return mtimeMs === MADE.getTime();
}

/**
 * Returns whether the path is missing, an empty folder, or a `commondir` without effect. The answer stays the same
 * while a program creates or removes a placeholder, so all programs in a folder protect the same paths.
 */
export function isVacant(path: string): boolean {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return true;
    if (stats.isDirectory()) return readdirSync(path).length === 0;
    // A new file is empty for a moment.
    return (
      isCommondir(path) &&
      stats.isFile() &&
      stats.size <= HERE.length &&
      ["", HERE].includes(readFileSync(path, "utf8"))
    );
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** Returns a key of a placeholder, which is the same for every path to it. Throws if the parent folder is missing. */
export function placeholderKey(path: string): string {
  const { dev, ino } = statSync(dirname(path));
  return `${dev}:${ino}:${basename(path)}`;
}

function isCommondir(path: string): boolean {
  return basename(path) === "commondir";
}

/** Returns whether a path exists, as a file, a folder or a link. */
export function isPlaceThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

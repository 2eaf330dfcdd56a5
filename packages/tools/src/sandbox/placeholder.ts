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

/** Content of `commondir`, a file that says where the rest of a repository is. This content means: here, like no file. */
const HERE = ".\n";
const NEVER_ENTERED = ["refs", "objects"];

/** The time of change of each placeholder. It tells a placeholder from an empty folder of the user. */
const MADE = new Date(Date.UTC(1990, 0, 1));

/**
 * Makes something at a path that is missing, so that it can be mounted read-only. git does not see an empty folder, and a
 * `commondir` that says "here" changes nothing. Throws when the path is there, or nothing can be made.
 */
export function makePlaceholder(path: string): void {
  if (isCommondir(path) && exists(join(dirname(path), "HEAD"))) writeFileSync(path, HERE, { flag: "wx" });
  // git enters the `refs` of a repository; others only see that it is empty.
  else if (NEVER_ENTERED.includes(basename(path))) mkdirSync(path, { mode: 0o444 });
  else mkdirSync(path);
  utimesSync(path, MADE, MADE);
}

/** Removes a placeholder, and nothing else. */
export function removePlaceholder(path: string): void {
  try {
    const stats = lstatSync(path);
    if (!isMade(stats)) return;
    if (stats.isDirectory()) rmdirSync(path);
    else if (isVacant(path)) rmSync(path);
  } catch {
    // Another program removed it, or the user put something there.
  }
}

/** Whether the path is a placeholder of any program. */
export function isPlaceholder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && isMade(stats) && isVacant(path);
}

function isMade({ mtimeMs }: Stats): boolean {
  return mtimeMs === MADE.getTime();
}

/**
 * Whether the path is missing, an empty folder, or a `commondir` that says "here". The answer does not change while a program
 * makes or removes a placeholder, so all programs in a folder protect the same paths.
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

/** Returns the same key for a placeholder on every path to it. Throws when its folder is missing. */
export function keyOf(path: string): string {
  const { dev, ino } = statSync(dirname(path));
  return `${dev}:${ino}:${basename(path)}`;
}

function isCommondir(path: string): boolean {
  return basename(path) === "commondir";
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

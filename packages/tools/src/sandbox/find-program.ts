import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isPathWithin } from "./protected-places.ts";

/**
 * Finds a program along a `PATH`, but never in a folder where sandboxed commands can write: a command could have
 * replaced the program. Returns a path without links, or undefined.
 */
export function findProgram(name: string, path: string, writable: readonly string[]): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    try {
      const file = join(folder, name);
      const real = realpathSync(file);
      if (writable.some((place) => isPathWithin(place, real) || isPathWithin(place, file))) continue;
      accessSync(real, constants.X_OK);
      if (statSync(real).isFile()) return real;
    } catch {
      // The file is missing or not executable.
    }
  }
  return undefined;
}

/** Returns a `PATH` without folders inside `places` and relative folders, which depend on the current folder. */
export function pathWithout(places: readonly string[], path: string): string {
  const entries = path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !places.some((place) => entryLeadsInto(place, entry)));
  return entries.join(delimiter);
}

function entryLeadsInto(place: string, entry: string): boolean {
  if (isPathWithin(place, entry)) return true;
  try {
    return isPathWithin(realpathSync(place), realpathSync(entry));
  } catch {
    // A missing folder leads nowhere.
    return false;
  }
}

/** A program to start, with its arguments and its whole environment. See {@link openSandbox}. */
export interface ProgramLaunch {
  /** A path, or a name to find along `PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Returns a program and its arguments as a shell command, with every word quoted. */
export function shellWords({ file, args }: Pick<ProgramLaunch, "file" | "args">): string {
  return [file, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/**
 * The variable that contains the words of the command to run in the sandbox. Without it, quoting would lengthen the
 * wrapped command.
 */
export const WORDS = "BANYAN_SANDBOX_WORDS";

/** A variable that only processes inside a sandbox have. */
export const INSIDE = "BANYAN_IN_SANDBOX";

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin } from "./protected-places.ts";

/**
 * Finds a program along a `PATH`, but not where commands in the sandbox may write: one of them could have put something
 * else there under its name. Returns a path without links, or undefined.
 */
export function findProgram(name: string, path: string, writable: readonly string[]): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    try {
      const file = join(folder, name);
      const real = realpathSync(file);
      if (writable.some((place) => isWithin(place, real) || isWithin(place, file))) continue;
      accessSync(real, constants.X_OK);
      if (statSync(real).isFile()) return real;
    } catch {
      // It is not there, or cannot be run.
    }
  }
  return undefined;
}

/** What is left of a `PATH` without relative entries, which mean another folder everywhere, and without those in given places. */
export function pathWithout(places: readonly string[], path: string): string {
  const entries = path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry) && !places.some((place) => leadsInto(place, entry)));
  return entries.join(delimiter);
}

function leadsInto(place: string, entry: string): boolean {
  if (isWithin(place, entry)) return true;
  try {
    return isWithin(realpathSync(place), realpathSync(entry));
  } catch {
    // What is not there leads nowhere.
    return false;
  }
}

/** A program to start, its arguments and all of its environment. */
export interface Program {
  /** A path, or a name that is looked for along `PATH`. */
  readonly file: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A program and its arguments as the text of a shell command: every character stands for itself. */
export function shellWords({ file, args }: Pick<Program, "file" | "args">): string {
  return [file, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/** The variable whose words are run in the sandbox: so the text does not grow with the command, however it is quoted. */
export const WORDS = "BANYAN_SANDBOX_WORDS";

/** The variable that whatever runs in a sandbox has, and the processes around it have not. */
export const INSIDE = "BANYAN_IN_SANDBOX";

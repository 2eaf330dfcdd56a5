import { realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, relative, sep } from "node:path";
import type { ProcessEnvironment } from "../../sandbox/environment.ts";

/** Variables that make a shell run something, or parse words differently, before the command. */
const STEERING = new Set(
  "BASHOPTS BASH_ENV BASH_LOADABLES_PATH BASH_XTRACEFD CDPATH ENV EXECIGNORE GLOBIGNORE IFS POSIXLY_CORRECT PROMPT_COMMAND PS4 SHELLOPTS".split(
    " ",
  ),
);
const FUNCTION = /^BASH_FUNC_|^__BASH_FUNC/;
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * Makes git obey the settings of a bare repository only if the repository is named explicitly. Otherwise git would obey
 * the settings of any folder that looks like a repository. Replaces inherited settings of this kind.
 */
export const GIT_SETTINGS: ProcessEnvironment = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
};

/** Editor variables that override a program's settings. */
const EDITORS = [
  "EDITOR",
  "VISUAL",
  "GIT_EDITOR",
  "GIT_SEQUENCE_EDITOR",
  "HGEDITOR",
  "SVN_EDITOR",
  "GH_EDITOR",
  "JJ_EDITOR",
];

/**
 * Returns variables that prevent editors from opening (F80): a program that opens an editor continues with the existing
 * text. The user's own editor variables are included.
 */
export function withoutEditors(inherited: ProcessEnvironment): ProcessEnvironment {
  const names = [...EDITORS, ...Object.keys(inherited).filter((name) => name.endsWith("EDITOR"))];
  return Object.fromEntries(names.map((name) => [name, "true"]));
}

/**
 * Returns an environment in which the shell runs exactly the approved programs (S18): `ls` is the system's program. The
 * path has only existing absolute folders that are outside of `places` (where commands can write) and not writable by
 * everybody. Variables that steer shells, and exported functions, are removed.
 */
export function steadyEnvironment(inherited: ProcessEnvironment, places: readonly string[]): ProcessEnvironment {
  const kept = Object.entries(inherited).filter(([name]) => !STEERING.has(name) && !FUNCTION.test(name));
  const folders = (inherited.PATH ?? "").split(delimiter).filter((folder) => isSteady(folder, places));
  return { ...Object.fromEntries(kept), PATH: folders.length === 0 ? SYSTEM_PATH : folders.join(delimiter) };
}

function isSteady(folder: string, places: readonly string[]): boolean {
  if (!isAbsolute(folder)) return false;
  try {
    const real = realpathSync(folder);
    if ((statSync(real).mode & 0o002) !== 0) return false;
    return !places.some((place) => holds(place, folder) || holds(place, real));
  } catch {
    // A missing folder could be created later by another user.
    return false;
  }
}

function holds(place: string, path: string): boolean {
  const way = relative(place, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

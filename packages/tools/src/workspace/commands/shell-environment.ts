import { realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, relative, sep } from "node:path";
import type { Environment } from "../../sandbox/environment.ts";

/** Variables that make a shell run something, or read words differently, before it comes to the command itself. */
const STEERING = new Set(
  "BASHOPTS BASH_ENV BASH_LOADABLES_PATH BASH_XTRACEFD CDPATH ENV EXECIGNORE GLOBIGNORE IFS POSIXLY_CORRECT PROMPT_COMMAND PS4 SHELLOPTS".split(
    " ",
  ),
);
const FUNCTION = /^BASH_FUNC_|^__BASH_FUNC/;
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * git obeys the settings of a repository that somebody made of an ordinary folder, or that came with a project, as soon as
 * it is called in there: only where it is named does it count. They stand in place of settings that were inherited this way.
 */
export const GIT_SETTINGS: Environment = {
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
};

/** Variables that name an editor before the settings of a program do. */
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
 * Variables with which no command waits for an editor (F80): what would open one goes on with the text that is there. The user's
 * own variables of that kind are among them.
 */
export function withoutEditors(inherited: Environment): Environment {
  const names = [...EDITORS, ...Object.keys(inherited).filter((name) => name.endsWith("EDITOR"))];
  return Object.fromEntries(names.map((name) => [name, "true"]));
}

/**
 * The environment in which a shell takes a command for what was judged (S18): `ls` is the program of the system, and
 * nothing that the agent could have put in its way. The path has only absolute folders that exist, outside of `places`
 * (where commands may write), and that not everybody can write to; variables that steer shells, and functions, are
 * taken away.
 */
export function steadyEnvironment(inherited: Environment, places: readonly string[]): Environment {
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
    // What is not there now could be made later, by whoever may write where it would be.
    return false;
  }
}

function holds(place: string, path: string): boolean {
  const way = relative(place, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

import { dirname, join } from "node:path/posix";
import ignore, { type Ignore } from "ignore";
import { systemCode, WorkspaceError } from "./error.ts";
import { type OpenDirectory, openDirectory, openFileInside, openInside } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** The rules that hold in a folder, its own and those of the folders around it, as one list: the last one that fits decides. */
export interface IgnoreRules {
  readonly rules: Ignore;
  readonly count: number;
}

/** An ignore file beyond this size is not one that a person wrote. */
const MOST_BYTES = 256 * 1024;

/** Rules that hold in one place; further ones are passed over. */
const MOST_RULES = 5_000;

/** What a folder may say about what is in it; a later file outranks an earlier one. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];

/** Five or more stars in one name can take for ever to match; nobody needs them. */
export const TOO_MANY_STARS = /(?:\*[^/*]*){5}/;

/**
 * What a rule costs grows with each `**` by the depth of a path: with two of them, and `DEEPEST`, it is known. Rules
 * with more are passed over. One at the end costs nothing.
 */
const TOO_MANY_DEPTHS = /(?:(?:^|\/)\*{2,}(?=\/).*?){3}/;

/**
 * The rules that hold in a folder: its own, inside `outer`. `names` are those of its entries, if they are known: then
 * nothing is opened that is not there.
 */
export async function rulesIn(
  workspace: Workspace,
  directory: OpenDirectory,
  folder: string,
  outer: IgnoreRules | undefined,
  names?: ReadonlySet<string>,
): Promise<IgnoreRules | undefined> {
  const texts: string[] = [];
  // What a repository keeps to itself is said once, for all of it, and is outranked by what its folders say.
  if (names?.has(".git") ?? true) texts.push(await ownExclusions(workspace, directory, folder));
  for (const name of IGNORE_FILES)
    if (names?.has(name) ?? true) texts.push(await ignoreText(workspace, directory, name, join(folder, name)));
  const lines = texts.join("\n").split("\n");
  const rules = lines
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => fromRoot(folder, line))
    .filter((rule) => !TOO_MANY_STARS.test(rule) && !TOO_MANY_DEPTHS.test(rule));
  const held = outer?.count ?? 0;
  const own = rules.slice(0, MOST_RULES - held);
  if (own.length === 0) return outer;
  const all = ignore({ ignorecase: false });
  if (outer) all.add(outer.rules);
  return { rules: all.add(own.join("\n")), count: held + own.length };
}

/**
 * A rule of a folder as the root would write it: with a `/` in it, it is about a path from the folder, else about a name at
 * any depth. Kept apart by folders, rules could not tell that an inner one takes a folder back that an outer one left out.
 */
function fromRoot(folder: string, rule: string): string {
  if (folder === ".") return rule;
  const not = rule.startsWith("!") ? "!" : "";
  const pattern = rule.slice(not.length);
  const start = `${not}/${folder.replace(/[\\*?[\]!# ]/g, "\\$&")}`;
  if (pattern.startsWith("/")) return start + pattern;
  return /\/\s*\S/.test(pattern) ? `${start}/${pattern}` : `${start}/**/${pattern}`;
}

/** The text of `.git/info/exclude`. A `.git` that is a link, or a file that names another place, is not followed. */
async function ownExclusions(workspace: Workspace, directory: OpenDirectory, folder: string): Promise<string> {
  try {
    await using repository = await openInside(workspace, directory, ".git");
    await using information = await openInside(workspace, repository, "info");
    return await ignoreText(workspace, information, "exclude", join(folder, ".git/info/exclude"));
  } catch (error) {
    return nothing(error);
  }
}

async function ignoreText(workspace: Workspace, directory: OpenDirectory, name: string, path: string): Promise<string> {
  try {
    await using file = await openFileInside(workspace, directory, name, path);
    return file.stats.size > MOST_BYTES ? "" : await file.handle.readFile("utf8");
  } catch (error) {
    return nothing(error);
  }
}

/** Most folders have no such file, and one that cannot be read, or is no plain file, says nothing. */
function nothing(error: unknown): string {
  if (systemCode(error) !== undefined || error instanceof WorkspaceError) return "";
  throw error;
}

/** Levels below the root down to which rules are tried. */
const DEEPEST = 200;

/** Whether git would ignore this path, provided that it does not ignore a folder around it. */
export function isIgnored(rules: IgnoreRules | undefined, path: string, isDirectory: boolean): boolean {
  if (rules === undefined || isDeep(path)) return false;
  return rules.rules.ignores(isDirectory ? `${path}/` : path);
}

function isDeep(path: string): boolean {
  let at = -1;
  for (let level = 0; level < DEEPEST; level += 1) {
    at = path.indexOf("/", at + 1);
    if (at === -1) return false;
  }
  return true;
}

/** A name that nobody wrote a rule for. */
const ANY_NAME = "3b1f6b0e-any-name";

/** Returns whether rules leave out a folder, or as `build/*` whatever is in it, without being rules about all folders around it. */
function isLeftOut(rules: IgnoreRules | undefined, folder: string): boolean {
  const leavesAllOut = (around: string) => isIgnored(rules, join(around, ANY_NAME), false);
  return isIgnored(rules, folder, true) || (leavesAllOut(folder) && !leavesAllOut(dirname(folder)));
}

/**
 * The rules that hold in a folder, gathered from the root down. Below a folder that is itself ignored the outer rules do
 * not count: who names it wants to see it.
 */
export async function rulesDownTo(workspace: Workspace, folder: string): Promise<IgnoreRules | undefined> {
  let directory = await openDirectory(workspace, workspace.root);
  try {
    let rules = await rulesIn(workspace, directory, ".", undefined);
    let at = ".";
    for (const name of folder === "." ? [] : folder.split("/")) {
      at = join(at, name);
      const next = await openInside(workspace, directory, name);
      await directory[Symbol.asyncDispose]();
      directory = next;
      rules = await rulesIn(workspace, directory, at, isLeftOut(rules, at) ? undefined : rules);
    }
    return rules;
  } finally {
    await directory[Symbol.asyncDispose]();
  }
}

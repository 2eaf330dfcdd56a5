import { dirname, join } from "node:path/posix";
import ignore, { type Ignore } from "ignore";
import { systemCode, WorkspaceError } from "./error.ts";
import { type OpenDirectory, openDirectory, openFileInside, openInside } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** The ignore rules of a folder and its parents as one list. The last matching rule decides. */
export interface IgnoreRules {
  readonly rules: Ignore;
  readonly count: number;
}

const MOST_BYTES = 256 * 1024;

const MOST_RULES = 5_000;

/** Ignore files of a folder; later files override earlier ones. */
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];

/** Matches a pattern with five or more stars in one name, which can take for ever to match. */
export const TOO_MANY_STARS = /(?:\*[^/*]*){5}/;

/**
 * Each `**` multiplies the cost of a rule by the depth of a path. Two are affordable up to `DEEPEST`, so rules with
 * more are ignored. A final `**` costs nothing.
 */
const TOO_MANY_DEPTHS = /(?:(?:^|\/)\*{2,}(?=\/).*?){3}/;

/**
 * Returns the ignore rules of a folder, including those of its parents (`outer`). `names` are the folder's entries, if
 * known: missing files are then not opened.
 */
export async function rulesIn(
  workspace: Workspace,
  directory: OpenDirectory,
  folder: string,
  outer: IgnoreRules | undefined,
  names?: ReadonlySet<string>,
): Promise<IgnoreRules | undefined> {
  const texts: string[] = [];
  // A repository's own exclusions apply to all of its folders, and the folders' files override them.
  if (names?.has(".git") ?? true) texts.push(await ownExclusions(workspace, directory, folder));
  for (const name of IGNORE_FILES)
    if (names?.has(name) ?? true) texts.push(await ignoreText(workspace, directory, name, join(folder, name)));
  const lines = texts.join("\n").split("\n");
  const rules = lines
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => ignoreRuleFromRoot(folder, line))
    .filter((rule) => !TOO_MANY_STARS.test(rule) && !TOO_MANY_DEPTHS.test(rule));
  const held = outer?.count ?? 0;
  const own = rules.slice(0, MOST_RULES - held);
  if (own.length === 0) return outer;
  const all = ignore({ ignorecase: false });
  if (outer) all.add(outer.rules);
  return { rules: all.add(own.join("\n")), count: held + own.length };
}

/**
 * Rewrites a folder's rule relative to the root. A rule with `/` matches a path below the folder; other rules match a
 * name at any depth. Separate lists per folder would be wrong: an inner rule could not re-include a folder that an
 * outer rule excludes.
 */
function ignoreRuleFromRoot(folder: string, rule: string): string {
  if (folder === ".") return rule;
  const not = rule.startsWith("!") ? "!" : "";
  const pattern = rule.slice(not.length);
  const start = `${not}/${folder.replace(/[\\*?[\]!# ]/g, "\\$&")}`;
  if (pattern.startsWith("/")) return start + pattern;
  return /\/\s*\S/.test(pattern) ? `${start}/${pattern}` : `${start}/**/${pattern}`;
}

async function ownExclusions(workspace: Workspace, directory: OpenDirectory, folder: string): Promise<string> {
  try {
    await using repository = await openInside(workspace, directory, ".git");
    await using information = await openInside(workspace, repository, "info");
    return await ignoreText(workspace, information, "exclude", join(folder, ".git/info/exclude"));
  } catch (error) {
    return ignoreMissingRules(error);
  }
}

async function ignoreText(workspace: Workspace, directory: OpenDirectory, name: string, path: string): Promise<string> {
  try {
    await using file = await openFileInside(workspace, directory, name, path);
    return file.stats.size > MOST_BYTES ? "" : await file.handle.readFile("utf8");
  } catch (error) {
    return ignoreMissingRules(error);
  }
}

/** Most folders have no such file. An unreadable or special file counts as empty. */
function ignoreMissingRules(error: unknown): string {
  if (systemCode(error) !== undefined || error instanceof WorkspaceError) return "";
  throw error;
}

const DEEPEST = 200;

/** Returns whether git would ignore this path, provided that git does not ignore a parent folder. */
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

const ANY_NAME = "3b1f6b0e-any-name";

/** Returns whether rules ignore a folder or all of its content (`build/*`), without ignoring its parent's content too. */
function isLeftOut(rules: IgnoreRules | undefined, folder: string): boolean {
  const leavesAllOut = (around: string) => isIgnored(rules, join(around, ANY_NAME), false);
  return isIgnored(rules, folder, true) || (leavesAllOut(folder) && !leavesAllOut(dirname(folder)));
}

/**
 * Returns the ignore rules of a folder, collected from the root down. Below an ignored folder, the outer rules do not
 * apply: a caller that names such a folder wants to see its files.
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

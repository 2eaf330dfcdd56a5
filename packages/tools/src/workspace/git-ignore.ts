import { dirname, join } from "node:path/posix";
import ignore, { type Ignore } from "ignore";
import { systemCode, WorkspaceError } from "./error.ts";
import { type OpenDirectory, openDirectory, openFileInside, openInside } from "./open-path.ts";
import type { Workspace } from "./paths.ts";

/** The rules of one folder's `.gitignore`, and those of the folders around it. */
export interface IgnoreRules {
  /** The folder, from the root. */
  readonly folder: string;
  readonly rules: Ignore;
  readonly outer: IgnoreRules | undefined;
}

/** A `.gitignore` beyond this size is not one that a person wrote. */
const MOST_BYTES = 1024 * 1024;

/** Five or more stars in one name can take for ever to match; nobody needs them. */
export const TOO_MANY_STARS = /(?:\*[^/*]*){5}/;

/** The rules that hold in a folder: its own, inside `outer`. */
export async function rulesIn(
  workspace: Workspace,
  directory: OpenDirectory,
  folder: string,
  outer: IgnoreRules | undefined,
): Promise<IgnoreRules | undefined> {
  try {
    await using file = await openFileInside(workspace, directory, ".gitignore", join(folder, ".gitignore"));
    if (file.stats.size > MOST_BYTES) return outer;
    const lines = (await file.handle.readFile("utf8")).split("\n").filter((line) => !TOO_MANY_STARS.test(line));
    return { folder, rules: ignore({ ignorecase: false }).add(lines.join("\n")), outer };
  } catch (error) {
    // Most folders have none, and one that cannot be read, or is no plain file, says nothing.
    if (systemCode(error) !== undefined || error instanceof WorkspaceError) return outer;
    throw error;
  }
}

/** Whether git would ignore this path, provided that it does not ignore a folder around it. The innermost rule decides. */
export function isIgnored(rules: IgnoreRules | undefined, path: string, isDirectory: boolean): boolean {
  for (let at = rules; at !== undefined; at = at.outer) {
    const inside = at.folder === "." ? path : path.slice(at.folder.length + 1);
    const verdict = at.rules.test(isDirectory ? `${inside}/` : inside);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
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
      rules = await rulesIn(workspace, directory, at, isIgnored(rules, at, true) ? undefined : rules);
    }
    return rules;
  } finally {
    await directory[Symbol.asyncDispose]();
  }
}

/** Answers for files below `start`, in any order, whether git ignores them or a folder between `start` and them. */
export function ignoredBelow(workspace: Workspace, start: string): (path: string) => Promise<boolean> {
  type Verdict = { readonly ignored: boolean; readonly rules: IgnoreRules | undefined };
  const known = new Map<string, Promise<Verdict>>();
  const judge = async (folder: string): Promise<Verdict> => {
    if (folder === start) return { ignored: false, rules: await rulesDownTo(workspace, start) };
    const around = await verdictOn(dirname(folder));
    if (around.ignored || isIgnored(around.rules, folder, true)) return { ignored: true, rules: undefined };
    await using directory = await openDirectory(workspace, join(workspace.root, folder));
    return { ignored: false, rules: await rulesIn(workspace, directory, folder, around.rules) };
  };
  const verdictOn = (folder: string): Promise<Verdict> => {
    const verdict = known.get(folder) ?? judge(folder);
    known.set(folder, verdict);
    return verdict;
  };
  return async (path) => {
    const { ignored, rules } = await verdictOn(dirname(path));
    return ignored || isIgnored(rules, path, false);
  };
}

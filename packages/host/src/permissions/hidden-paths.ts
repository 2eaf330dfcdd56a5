import { execFile } from "node:child_process";
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EnvironmentVariables } from "@banyan/models";
import { childEnvironment } from "@banyan/tools/workspace";
import { findProgram } from "../programs/find-program.ts";
import type { Rule } from "./match.ts";
import { pathFromWorkspace, pathMatcher, pathScope, splitPattern } from "./place.ts";
import { isAbout, READING, restrainRules } from "./rule.ts";

/** Each hidden path costs a mount. */
const MOST = 1_000;
/** Milliseconds. */
const LONGEST_SEARCH = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** The workspace whose rules hide paths. `folder`: the workspace or a worktree, where programs work. */
interface HiddenPathsOptions {
  readonly workspace: string;
  readonly folder: string;
  readonly home: string;
  readonly env: EnvironmentVariables;
}

/**
 * Returns the existing files and folders that deny rules on reading hide from programs in the sandbox (S42), as
 * absolute paths. A rule that names a folder hides the whole folder. A pattern for the workspace applies to `folder`.
 * Other absolute patterns apply to the paths that they name. A rule without a pattern hides nothing, because no program
 * works without files. A pattern with wildcards finds no links. If its folder contains the workspace, it finds only
 * paths in the workspace. Rejects if the rules match more than 1,000 paths, or if the search takes more than 10
 * seconds.
 */
export async function hiddenPaths(
  deny: readonly Rule[],
  { workspace, folder, home, env }: HiddenPathsOptions,
): Promise<readonly string[]> {
  const scope = pathScope(folder, home);
  const found = new Set<string>();
  const searches = new Map<string, { glob: string; fits: (path: string) => boolean }[]>();
  for (const pattern of deniedPatterns(deny)) {
    const { glob, start, isWild } = splitPattern(pattern, pathScope(workspace, home), scope);
    const fits = pathMatcher(glob, scope);
    const kind = kindOf(start);
    if (!isWild || kind === "file") {
      if (kind !== undefined && fits(start)) found.add(start);
    } else if (kind === "folder") {
      const isInside = pathFromWorkspace(scope, start) !== undefined;
      const isAround = scope.realRoot.startsWith(start === "/" ? start : `${start}/`);
      const top = isInside || isAround ? scope.realRoot : start;
      searches.set(top, [...(searches.get(top) ?? []), { glob: isAround ? "**" : glob, fits }]);
    }
  }
  for (const [top, patterns] of searches) {
    const fits = (path: string) => patterns.some((pattern) => pattern.fits(path));
    const globs = patterns.map(({ glob }) => (glob.startsWith("/") ? glob.slice(top.length) : glob));
    for (const file of await filesIn(top, globs, env)) if (fits(file)) found.add(highestMatch(file, top, fits));
  }
  if (found.size > MOST)
    throw new Error(
      `Rules that deny reading match ${found.size} files, and at most ${MOST} can be hidden from commands. Deny whole folders, such as read(secrets/**).`,
    );
  return [...found];
}

/** Returns the patterns of paths that rules deny reading. */
export function deniedPatterns(deny: readonly Rule[]): ReadonlySet<string> {
  const rules = restrainRules(deny).filter((rule) => isAbout(rule, { name: READING }));
  return new Set(rules.flatMap(({ pattern }) => pattern ?? []));
}

function kindOf(path: string): "file" | "folder" | undefined {
  try {
    return lstatSync(path).isDirectory() ? "folder" : "file";
  } catch {
    // The path is missing, or a part of the path is a file.
    return undefined;
  }
}

/** A name that only wildcards match. */
const ANY = "\u0001";

/** Returns the highest folder of a file in which every path matches, or the file. One mount hides the whole folder. */
function highestMatch(file: string, top: string, fits: (path: string) => boolean): string {
  let highest = file;
  for (let above = dirname(file); above !== top && above.length > top.length; above = dirname(above))
    if (fits(join(above, ANY)) && fits(join(above, ANY, ANY))) highest = above;
  return highest;
}

/** Wildcards that mean the same for ripgrep. */
const SIMPLE = /^[\p{L}\p{N}\s*?._/~@%+=,-]*$/u;

/** Lists the files below a folder, including hidden and ignored files. The globs only save time. */
function filesIn(top: string, globs: readonly string[], env: EnvironmentVariables): Promise<string[]> {
  const rg = findProgram("rg", env.PATH ?? "", [top]);
  if (rg === undefined) return Promise.reject(new Error("Install ripgrep, which hides denied files from commands."));
  const only = globs.every((glob) => SIMPLE.test(glob)) ? globs.flatMap((glob) => ["--iglob", glob]) : [];
  const args = ["--files", "--hidden", "--no-ignore", "--no-config", "--null", ...only];
  const options = { cwd: top, timeout: LONGEST_SEARCH, maxBuffer: MOST_BYTES, env: childEnvironment(env, {}) };
  return new Promise((resolve, reject) => {
    execFile(rg, args, options, (error, stdout) => {
      // Code 1: no match. Code 2: a folder was unreadable, and the other folders were searched.
      if (error === null || error.code === 1 || error.code === 2)
        resolve(stdout.split("\0").flatMap((path) => (path === "" ? [] : join(top, path))));
      else
        reject(new Error(`The search in ${top} for files that rules hide failed or took too long.`, { cause: error }));
    });
  });
}

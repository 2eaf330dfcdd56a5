import { lstatSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { protectedPart } from "@banyan/tools/workspace";
import { fitsEvery, literalGlob, type PathScope, pathFromWorkspace, type ResolvedPath } from "./place.ts";

/** Parts of a repository that git obeys or follows to others; without `HEAD`, which marks a repository. */
const PARTS: ReadonlySet<string> = new Set(
  "commondir config config.worktree gitdir hooks info modules objects worktrees".split(" "),
);

/** Returns whether programs obey this file by themselves, so that no mode writes it without approval (S19). */
export function isExecutedByPrograms(scope: PathScope, { forms }: ResolvedPath): boolean {
  return forms.some(
    (form) => protectedPart(pathFromWorkspace(scope, form) ?? form) !== undefined || isObeyedByGit(scope, form),
  );
}

/**
 * Returns whether an allow rule matches a file that programs obey: its pattern must spell the name and hidden folders. A user who
 * allowed `src/**` did not allow `src/.vscode/tasks.json` or `src/HEAD`.
 */
export function namesObeyedFile(pattern: string, scope: PathScope, place: ResolvedPath): boolean {
  const named = place.forms.every(
    (form) => !isObeyedByGit(scope, form) || pattern.split("/").at(-1) === literalGlob(basename(form)),
  );
  return named && fitsEvery(pattern, scope, place, false);
}

/** Returns whether git would obey a file as part of a repository that is not named `.git`, in any folder. */
function isObeyedByGit(scope: PathScope, path: string): boolean {
  if (basename(path).toLowerCase() === "head") return true;
  for (let folder = dirname(path); pathFromWorkspace(scope, folder) !== undefined; folder = dirname(folder)) {
    const [part = ""] = relative(folder, path).split(sep);
    if (PARTS.has(part.toLowerCase()) && isFileThere(join(folder, "HEAD"))) return true;
  }
  return false;
}

function isFileThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A part that cannot be checked counts as present.
    return true;
  }
}

import { lstatSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { protectedPart } from "@banyan/tools/workspace";
import { fitsEvery, literalGlob, type PathScope, pathFromWorkspace, type ResolvedPath } from "./place.ts";

/** Files by which git recognizes a repository, or which it obeys; `HEAD` is checked apart. */
const PARTS: ReadonlySet<string> = new Set(
  "commondir config config.worktree gitdir hooks info modules objects worktrees".split(" "),
);

/**
 * Returns whether programs execute this file or read settings from it (S19). In every mode, writing such a file needs
 * approval.
 */
export function isExecutedByPrograms(scope: PathScope, { forms }: ResolvedPath): boolean {
  return forms.some(
    (form) => protectedPart(pathFromWorkspace(scope, form) ?? form) !== undefined || isObeyedByGit(scope, form),
  );
}

/**
 * Returns whether an allow rule's pattern writes out the name and the hidden folders of a file that programs obey. A
 * user who allowed `src/**` did not allow `src/.vscode/tasks.json` or `src/HEAD`.
 */
export function namesObeyedFile(pattern: string, scope: PathScope, place: ResolvedPath): boolean {
  const named = place.forms.every(
    (form) => !isObeyedByGit(scope, form) || pattern.split("/").at(-1) === literalGlob(basename(form)),
  );
  return named && fitsEvery(pattern, scope, place, false);
}

/** Git also obeys a repository that is not named `.git`. */
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

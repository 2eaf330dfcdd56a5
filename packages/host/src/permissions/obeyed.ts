import { lstatSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { protectedPart } from "@banyan/tools/workspace";
import { fitsEvery, fromRoot, literalGlob, type PathScope, type Place } from "./place.ts";

/** Parts of a repository that git obeys, or finds other parts by; without `HEAD`, which makes a repository of a folder. */
const PARTS: ReadonlySet<string> = new Set(
  "commondir config config.worktree gitdir hooks info modules objects worktrees".split(" "),
);

/** Whether programs obey a file by themselves, so that no mode lets it be written unasked (S19). */
export function isObeyed(scope: PathScope, { forms }: Place): boolean {
  return forms.some(
    (form) => protectedPart(fromRoot(scope, form) ?? form) !== undefined || isOfRepository(scope, form),
  );
}

/**
 * Whether a rule that allows fits a file that programs obey: only one that spells its name, and the hidden folders it is
 * in. Who agreed to `src/**` did not agree to `src/.vscode/tasks.json`, nor to `src/HEAD`.
 */
export function spellsObeyed(pattern: string, scope: PathScope, place: Place): boolean {
  const named = place.forms.every(
    (form) => !isOfRepository(scope, form) || pattern.split("/").at(-1) === literalGlob(basename(form)),
  );
  return named && fitsEvery(pattern, scope, place, false);
}

/** Whether git would obey a file as a part of a repository that is not called `.git`, and may lie in any folder. */
function isOfRepository(scope: PathScope, path: string): boolean {
  if (basename(path).toLowerCase() === "head") return true;
  for (let folder = dirname(path); fromRoot(scope, folder) !== undefined; folder = dirname(folder)) {
    const [part = ""] = relative(folder, path).split(sep);
    if (PARTS.has(part.toLowerCase()) && exists(join(folder, "HEAD"))) return true;
  }
  return false;
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at may be there.
    return true;
  }
}

import { existsSync, lstatSync, readlinkSync, realpathSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isPlaceholder } from "./placeholder.ts";

/** As many as systems follow. */
const MOST_LINKS = 40;

/**
 * Links that stand where something is protected: `.git/hooks`, `.claude`. What they lead to is protected as it is; over the link
 * itself nothing can be mounted. So what a command puts in its place is put aside when the command ends, and the link put back.
 */
export class ProtectedLinks {
  #targets: ReadonlyMap<string, string> = new Map();

  /** How the links among these places are now. No command runs. */
  remember(places: readonly string[]): void {
    const targets = new Map<string, string>();
    for (const place of places) {
      const target = targetOf(place);
      if (target !== undefined) targets.set(place, target);
    }
    this.#targets = targets;
  }

  /** Puts them back, and says so, a sentence for each. */
  putBack(): string[] {
    const notices: string[] = [];
    for (const [place, target] of this.#targets) {
      if (targetOf(place) === target) continue;
      try {
        const aside = lstatSync(place, { throwIfNoEntry: false }) && unusedName(place);
        if (aside !== undefined) renameSync(place, aside);
        symlinkSync(target, place);
        notices.push(
          `${place} was a link to ${target} and is one again: a command in the sandbox replaces none of these.${aside === undefined ? "" : ` The replacement was moved to ${basename(aside)}.`}`,
        );
      } catch (error) {
        notices.push(
          `${place} was a link to ${target}, which could not be put back (${(error as Error).message}). Check that path before you work in this folder.`,
        );
      }
    }
    return notices;
  }
}

/** Where something is made by whoever makes it through a link that leads to nothing; undefined when the place is no such link. */
export function madeAt(link: string): string | undefined {
  let place = link;
  for (let links = 0; links < MOST_LINKS; links++) {
    const target = targetOf(place);
    if (target === undefined) return place === link || isThere(place) ? undefined : firstMissing(place);
    place = resolve(dirname(place), target);
  }
  return undefined;
}

/** Where a path begins to be missing, without links. */
function firstMissing(path: string): string | undefined {
  const above = dirname(path);
  if (isThere(above)) return join(realpathSync(above), basename(path));
  return above === path ? undefined : firstMissing(above);
}

/** Whether something is there but a placeholder. */
function isThere(path: string): boolean {
  return existsSync(path) && !isPlaceholder(path);
}

function targetOf(place: string): string | undefined {
  try {
    return readlinkSync(place);
  } catch {
    // It is no link, or is not there.
    return undefined;
  }
}

/** A name beside a place for what is put aside there; nothing has it yet. */
export function unusedName(place: string): string {
  for (let number = 1; ; number++) {
    const name = `${place}-put-aside${number === 1 ? "" : `-${number}`}`;
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}

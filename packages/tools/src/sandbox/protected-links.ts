import { existsSync, lstatSync, readlinkSync, realpathSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isPlaceholder } from "./placeholder.ts";

const MOST_LINKS = 40;

/**
 * Symbolic links at protected paths, such as `.git/hooks` and `.claude`. The target of a link is protected like other
 * paths, but no mount can cover the link itself. If a command replaces a link, the replacement is moved aside when the
 * command ends, and the link is restored.
 */
export class ProtectedLinks {
  #targets: ReadonlyMap<string, string> = new Map();

  /** Stores the current links among these paths. Call this while no command runs. */
  remember(places: readonly string[]): void {
    const targets = new Map<string, string>();
    for (const place of places) {
      const target = protectedLinkTarget(place);
      if (target !== undefined) targets.set(place, target);
    }
    this.#targets = targets;
  }

  /** Restores changed links. Returns a sentence for each. */
  putBack(): string[] {
    const notices: string[] = [];
    for (const [place, target] of this.#targets) {
      if (protectedLinkTarget(place) === target) continue;
      try {
        const aside = lstatSync(place, { throwIfNoEntry: false }) && unusedName(place);
        if (aside !== undefined) renameSync(place, aside);
        symlinkSync(target, place);
        notices.push(
          `A command in the sandbox replaced ${place}, a link to ${target}. The link was restored, because commands must not replace it.${aside === undefined ? "" : ` The replacement was moved to ${basename(aside)}.`}`,
        );
      } catch (error) {
        notices.push(
          `A command in the sandbox replaced ${place}, a link to ${target}. The link could not be restored (${(error as Error).message}). Check this path before you work in the folder.`,
        );
      }
    }
    return notices;
  }
}

/**
 * Returns the path at which a file would be created through a dangling link. Undefined if `link` is not a dangling
 * link.
 */
export function danglingTarget(link: string): string | undefined {
  let place = link;
  for (let links = 0; links < MOST_LINKS; links++) {
    const target = protectedLinkTarget(place);
    if (target === undefined) return place === link || isRealEntry(place) ? undefined : firstMissing(place);
    place = resolve(dirname(place), target);
  }
  return undefined;
}

function firstMissing(path: string): string | undefined {
  const above = dirname(path);
  if (isRealEntry(above)) return join(realpathSync(above), basename(path));
  return above === path ? undefined : firstMissing(above);
}

function isRealEntry(path: string): boolean {
  return existsSync(path) && !isPlaceholder(path);
}

function protectedLinkTarget(place: string): string | undefined {
  try {
    return readlinkSync(place);
  } catch {
    // The path is missing or no link.
    return undefined;
  }
}

/** Returns an unused name next to `place` for the file that is moved aside. */
export function unusedName(place: string): string {
  for (let number = 1; ; number++) {
    const name = `${place}-put-aside${number === 1 ? "" : `-${number}`}`;
    if (lstatSync(name, { throwIfNoEntry: false }) === undefined) return name;
  }
}

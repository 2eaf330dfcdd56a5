import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** In a repository, says where the rest of it is. With this content it says: here, as when it is missing. */
const HERE = ".\n";
const JOURNAL = "held";
const NEVER_ENTERED = ["/refs", "/objects"];

/** The names of the folders that sandboxes keep their own things in begin so. */
export const BASE = "banyan-sandbox-";

/**
 * What is protected and missing, held for as long as commands run, so that they cannot make it: a place can be mounted
 * read-only only when there is something. An empty folder is seen by no git, and a `commondir` that says "here" changes
 * nothing for one. A journal in `base` names all of it, for whoever has to clean up after a process that was killed.
 */
export class HeldPlaces {
  readonly #journal: string;
  readonly #held = new Set<string>();

  constructor(base: string) {
    this.#journal = join(base, JOURNAL);
    writeFileSync(this.#journal, `${process.pid}\0`, { flag: "wx", mode: 0o600 });
  }

  /** Returns whether there is something at the place now. Where nothing can be made, a command of the same user makes nothing either. */
  hold(place: string): boolean {
    if (exists(place)) return true;
    appendFileSync(this.#journal, `${place}\0`);
    this.#held.add(place);
    try {
      if (isOfRepository(place)) writeFileSync(place, HERE, { flag: "wx" });
      // Nobody enters it: git asks that of the `refs` of a repository, and others only see that it is empty.
      else if (NEVER_ENTERED.some((name) => place.endsWith(name))) mkdirSync(place, { mode: 0o444 });
      else mkdirSync(place);
    } catch {
      return exists(place);
    }
    return true;
  }

  /** Takes away what was made and is as it was made. */
  release(): void {
    for (const place of this.#held) releasePlace(place);
    this.#held.clear();
  }
}

/** Cleans up after a sandbox whose process was killed, by its folder. */
export function releaseLeft(base: string): void {
  for (const place of journalOf(base).slice(1)) releasePlace(place);
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
}

/** Cleans up after all of this user's sandboxes that were killed together with their program. */
export function releaseAllLeft(temporary: string): void {
  for (const name of readdirSync(temporary).filter((name) => name.startsWith(BASE))) {
    const base = join(temporary, name);
    const [process] = journalOf(base);
    if (lstatSync(base, { throwIfNoEntry: false })?.uid !== processUser()) continue;
    if (process !== undefined && hasEnded(Number(process))) releaseLeft(base);
  }
}

function processUser(): number | undefined {
  return process.getuid?.();
}

function hasEnded(id: number): boolean {
  try {
    process.kill(id, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function journalOf(base: string): readonly string[] {
  try {
    return readFileSync(join(base, JOURNAL), "utf8")
      .split("\0")
      .filter((line) => line !== "");
  } catch {
    // It has none, or is another's.
    return [];
  }
}

function releasePlace(place: string): void {
  try {
    if (lstatSync(place).isDirectory()) rmdirSync(place);
    else if (place.endsWith("/commondir") && readFileSync(place, "utf8") === HERE) rmSync(place);
  } catch {
    // It has gone, or has become something.
  }
}

/** Whether it is the `commondir` of a repository. In a folder of files such a file would be seen: a folder is not. */
function isOfRepository(place: string): boolean {
  return place.endsWith("/commondir") && exists(join(dirname(place), "HEAD"));
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

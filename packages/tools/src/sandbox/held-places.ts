import { accessSync, constants, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { otherHolders, type SandboxHolder } from "./holder.ts";
import {
  isPlaceholder,
  isPlaceThere,
  isVacant,
  makePlaceholder,
  placeholderKey,
  removePlaceholder,
} from "./placeholder.ts";

const PAUSE = 20;
const LONGEST_REMOVAL = 10_000;

/**
 * The placeholders of one sandbox: files and folders at missing paths. They are needed because only an existing path
 * can be mounted read-only. Programs in the same folder share placeholders. Removing a placeholder detaches its mounts,
 * also those of running commands of other programs. For this reason, only the last program that needs a placeholder
 * removes it (S30). There is no lock. A program first publishes which placeholders it needs, and then waits for
 * programs that remove some. A program that removes some first sets a flag, and then reads the needs of others. Of two
 * such programs, at least one always sees the other.
 */
export class HeldPlaces {
  readonly #holder: SandboxHolder;
  readonly #needed = new Map<string, string>();
  #othersRemoved: Promise<void> = Promise.resolve();

  constructor(holder: SandboxHolder) {
    this.#holder = holder;
    this.release();
  }

  /** Creates missing placeholders and returns the paths to mount. No program removes these placeholders before `release`. */
  async hold(places: readonly string[]): Promise<readonly string[]> {
    const canMake = new Map([...new Set(places.map(dirname))].map((folder) => [folder, canMakeIn(folder)]));
    const canBeMade = (place: string) => canMake.get(dirname(place)) === true;
    const vacant = new Map(
      places.filter((place) => canBeMade(place) && isVacant(place)).map((place) => [placeholderKey(place), place]),
    );
    if ([...vacant.keys()].some((key) => !this.#needed.has(key))) {
      for (const [key, place] of vacant) this.#needed.set(key, place);
      this.#holder.publish(this.#needed);
      this.#othersRemoved = this.#waitForOthers();
    }
    await this.#othersRemoved;
    for (const place of vacant.values()) makeHeldPlace(place);
    // In some folders this user cannot create files. Another user may remove a placeholder there at any time.
    return places.filter((place) => isPlaceThere(place) && (canBeMade(place) || !isPlaceholder(place)));
  }

  /** Returns whether a command runs or is being killed. A command needs its placeholders until its last process is gone. */
  hasCommands(): boolean {
    return this.#holder.hasCommands();
  }

  /** Removes placeholders that no other program needs, including those of killed programs. Call this while no command runs. */
  release(): void {
    removeUnneeded(this.#holder);
    this.#needed.clear();
  }

  async #waitForOthers(): Promise<void> {
    const deadline = performance.now() + LONGEST_REMOVAL;
    for (const other of otherHolders(this.#holder)) {
      while (other.isRemoving()) {
        if (performance.now() > deadline) throw new Error(`another program does not end its work in ${other.folder}`);
        await sleep(1);
      }
    }
  }
}

/** Waits until no command of an ended sandbox runs or can start. */
export async function waitForCommands(holder: SandboxHolder): Promise<void> {
  holder.retire();
  while (holder.hasCommands()) await sleep(PAUSE, undefined, { ref: false });
}

/** Removes the folders of an ended sandbox and its unneeded placeholders. Does nothing while commands run. */
export function removeEnded(holder: SandboxHolder): void {
  holder.retire();
  if (holder.hasCommands() || !isPlaceThere(holder.folder)) return;
  removeUnneeded(holder);
  removeFolders(holder);
}

function removeUnneeded(holder: SandboxHolder): void {
  holder.setRemoving(true);
  try {
    const others = otherHolders(holder);
    const left = others.filter((other) => other.isOwn && hasSandboxEnded(other));
    const needed = new Set(
      others
        .filter((other) => !left.includes(other) && other.lives() && !other.isRemoving())
        .flatMap((other) => [...other.needs().keys()]),
    );
    for (const one of [holder, ...left])
      for (const [key, place] of one.needs()) if (!needed.has(key) && isStill(key, place)) removePlaceholder(place);
    for (const one of left) removeFolders(one);
    holder.publish(new Map());
  } finally {
    holder.setRemoving(false);
  }
}

/** Returns whether no process of the sandbox lives. `retire` closes the pipe for a command that a killed program just started. */
function hasSandboxEnded(holder: SandboxHolder): boolean {
  if (holder.lives()) return false;
  holder.retire();
  return !holder.lives();
}

function removeFolders(holder: SandboxHolder): void {
  const base = holder.base();
  if (base !== undefined) rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  holder.remove();
}

function isStill(key: string, place: string): boolean {
  try {
    return placeholderKey(place) === key;
  } catch {
    return false;
  }
}

function makeHeldPlace(place: string): void {
  try {
    makePlaceholder(place);
  } catch {
    // The path exists already, or the file system is read-only and commands cannot write either.
  }
}

function canMakeIn(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

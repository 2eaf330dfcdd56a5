import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Milliseconds after which a change is written. */
const SOON = 1_000;

/**
 * How many turns of each conversation have ended since a person looked. Kept in a file of their own: they are about the
 * person, not facts of a conversation, and may be lost.
 */
export class UnreadCounts implements Disposable {
  readonly #file: string | undefined;
  readonly #counts: Map<string, number>;
  #timer: NodeJS.Timeout | undefined;

  /** Without a file they last as long as the process. A file that cannot be read counts as none. */
  constructor(file?: string) {
    this.#file = file;
    this.#counts = new Map(file === undefined ? [] : countsIn(file));
  }

  of(conversation: string): number {
    return this.#counts.get(conversation) ?? 0;
  }

  turnEnded(conversation: string): void {
    this.#counts.set(conversation, this.of(conversation) + 1);
    this.#saveSoon();
  }

  /** A person has looked, or the conversation is gone. Answers whether that changed anything. */
  clear(conversation: string): boolean {
    const changed = this.#counts.delete(conversation);
    if (changed) this.#saveSoon();
    return changed;
  }

  /** Writes what has not been written. */
  [Symbol.dispose](): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#save();
  }

  #saveSoon(): void {
    if (this.#file === undefined) return;
    this.#timer ??= setTimeout(() => this.#save(), SOON).unref();
  }

  #save(): void {
    this.#timer = undefined;
    if (this.#file === undefined) return;
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      const temporary = `${this.#file}.${process.pid}.tmp`;
      writeFileSync(temporary, JSON.stringify(Object.fromEntries(this.#counts)), { mode: 0o600 });
      renameSync(temporary, this.#file);
    } catch {
      // A full disk, say. The counts of this process go on; only the next one knows less.
    }
  }
}

function countsIn(file: string): [string, number][] {
  try {
    return Object.entries(JSON.parse(readFileSync(file, "utf8")) as object).filter(
      (entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && entry[1] > 0,
    );
  } catch {
    // There is none yet, or it is damaged: nothing is unread then.
    return [];
  }
}

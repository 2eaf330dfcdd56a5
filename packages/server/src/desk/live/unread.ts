import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { BrokenTurn, RunEnd } from "@banyan/core/conversation";

/** Milliseconds after which a change is written. */
const SOON = 1_000;

/** What is known of a conversation's turns: how many have ended since a person looked, and why the last one broke off. */
interface Ended {
  readonly unread: number;
  readonly broken?: BrokenTurn["reason"];
}

/**
 * How many turns of each conversation have ended since a person looked, and how the last one did. Kept in a file of their
 * own: they are about the person, not facts of a conversation, and may be lost.
 */
export class UnreadCounts implements Disposable {
  readonly #file: string | undefined;
  readonly #ended: Map<string, Ended>;
  #timer: NodeJS.Timeout | undefined;

  /** Without a file they last as long as the process. A file that cannot be read counts as none. */
  constructor(file?: string) {
    this.#file = file;
    this.#ended = new Map(file === undefined ? [] : endedIn(file));
  }

  of(conversation: string): Ended {
    return this.#ended.get(conversation) ?? NONE;
  }

  turnEnded(conversation: string, reason: Exclude<RunEnd, "waiting">): void {
    const unread = this.of(conversation).unread + 1;
    const isBroken = reason !== "answered" && reason !== "finished";
    this.#ended.set(conversation, { unread, ...(isBroken && { broken: reason }) });
    this.#saveSoon();
  }

  /** A person has looked. Returns whether that changed anything. */
  seen(conversation: string): boolean {
    const { unread, broken } = this.of(conversation);
    if (unread === 0) return false;
    if (broken === undefined) this.#ended.delete(conversation);
    else this.#ended.set(conversation, { unread: 0, broken });
    this.#saveSoon();
    return true;
  }

  /** The conversation is gone. */
  forget(conversation: string): void {
    if (this.#ended.delete(conversation)) this.#saveSoon();
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
      writeFileSync(temporary, JSON.stringify(Object.fromEntries(this.#ended)), { mode: 0o600 });
      renameSync(temporary, this.#file);
    } catch {
      // A full disk, say. The counts of this process go on; only the next one knows less.
    }
  }
}

const NONE: Ended = { unread: 0 };

const BROKEN: ReadonlySet<unknown> = new Set<BrokenTurn["reason"]>(["failed", "limit", "interrupted"]);

function endedIn(file: string): [string, Ended][] {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>);
    return kept.flatMap(([conversation, value]): [string, Ended][] => {
      // Until the reason was kept too, there was only the count.
      const { unread, broken } = typeof value === "number" ? { unread: value } : ((value ?? {}) as Partial<Ended>);
      if (!Number.isSafeInteger(unread) || (unread ?? 0) < 0) return [];
      return [[conversation, { unread: unread ?? 0, ...(BROKEN.has(broken) && { broken }) } as Ended]];
    });
  } catch {
    // There is none yet, or it is damaged: nothing is unread then.
    return [];
  }
}

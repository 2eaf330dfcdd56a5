import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { BrokenTurn, RunEnd } from "@banyan/core/conversation";

const SOON = 1_000;

interface EndedTurns {
  readonly unread: number;
  readonly broken?: BrokenTurn["reason"];
}

/** Counts the turns of each conversation that ended since the user last looked. A crash may lose the counts. */
export class UnreadCounts implements Disposable {
  readonly #file: string | undefined;
  readonly #ended: Map<string, EndedTurns>;
  #timer: NodeJS.Timeout | undefined;

  /** Without a file, the counts are lost with the process. An unreadable file counts as empty. */
  constructor(file?: string) {
    this.#file = file;
    this.#ended = new Map(file === undefined ? [] : endedTurnsIn(file));
  }

  of(conversation: string): EndedTurns {
    return this.#ended.get(conversation) ?? NONE;
  }

  turnEnded(conversation: string, reason: Exclude<RunEnd, "waiting">): void {
    const unread = this.of(conversation).unread + 1;
    const isBroken = reason !== "answered" && reason !== "finished";
    this.#ended.set(conversation, { unread, ...(isBroken && { broken: reason }) });
    this.#saveSoon();
  }

  /** Returns whether a count changed. */
  seen(conversation: string): boolean {
    const { unread, broken } = this.of(conversation);
    if (unread === 0) return false;
    if (broken === undefined) this.#ended.delete(conversation);
    else this.#ended.set(conversation, { unread: 0, broken });
    this.#saveSoon();
    return true;
  }

  forget(conversation: string): void {
    if (this.#ended.delete(conversation)) this.#saveSoon();
  }

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
      // For example a full disk. Only the next process lacks the latest counts.
    }
  }
}

const NONE: EndedTurns = { unread: 0 };

const BROKEN: ReadonlySet<unknown> = new Set<BrokenTurn["reason"]>(["failed", "limit", "interrupted"]);

function endedTurnsIn(file: string): [string, EndedTurns][] {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>);
    return kept.flatMap(([conversation, value]): [string, EndedTurns][] => {
      // Files of earlier versions have only the count.
      const { unread, broken } = typeof value === "number" ? { unread: value } : ((value ?? {}) as Partial<EndedTurns>);
      if (!Number.isSafeInteger(unread) || (unread ?? 0) < 0) return [];
      return [[conversation, { unread: unread ?? 0, ...(BROKEN.has(broken) && { broken }) } as EndedTurns]];
    });
  } catch {
    // The file does not exist yet or is damaged.
    return [];
  }
}

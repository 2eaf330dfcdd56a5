import { writeSync } from "node:fs";
import type { Event, FeedItem } from "@banyan/core";

/** What a program tells of itself while it lives: one line of JSON each, out of the process before the program goes on. */
export type Announcement =
  /** A consumer of the feed was shown this fact. */
  | { readonly type: "event"; readonly event: Event }
  /** A consumer of the feed was shown this text of a message that streams. */
  | { readonly type: "delta"; readonly message: string; readonly part: number; readonly text: string }
  /** A tool has changed the world. */
  | { readonly type: "effect" }
  /** A hook is asked for the words of a summary, or has waited and is about to answer. */
  | { readonly type: "hook" }
  /** A person was told that their text is safe. */
  | { readonly type: "said"; readonly input: string; readonly text: string }
  /** A person was told that their answer is safe. */
  | { readonly type: "answered"; readonly question: string };

/** Whether an announcement is one at which the program is to be killed: every one in a long run, else all but deltas. */
export function isInstant({ type }: Announcement, every: boolean): boolean {
  return every || type !== "delta";
}

/** Tells what happens; once it has told the instant number `last`, the program does nothing more, so that it dies there. */
export class Witness {
  readonly #last: number;
  readonly #every: boolean;
  #told = 0;

  constructor(last: number, every: boolean) {
    this.#last = last;
    this.#every = every;
  }

  tell(announcement: Announcement): void {
    writeSync(1, `${JSON.stringify(announcement)}\n`);
    if (isInstant(announcement, this.#every) && ++this.#told === this.#last) awaitDeath();
  }
}

/** Tells what a consumer of the feed was shown. */
export function show(witness: Witness, item: FeedItem): void {
  if ("at" in item) witness.tell({ type: "event", event: item });
  else if (item.type === "text.delta" || item.type === "reasoning.delta") {
    witness.tell({ type: "delta", message: item.message, part: item.part, text: item.text });
  }
}

/** Waits to be killed; a program whose killer is gone kills itself after a minute. */
function awaitDeath(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
  process.kill(process.pid, "SIGKILL");
}

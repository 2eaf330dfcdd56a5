import { writeSync } from "node:fs";
import type { Event, FeedItem } from "@banyan/core";

/** An announcement of a running program: one line of JSON, written out before the program continues. */
export type Announcement =
  /** A feed consumer got this event. */
  | { readonly type: "event"; readonly event: Event }
  /** A feed consumer got this text of a streaming message. */
  | { readonly type: "delta"; readonly message: string; readonly part: number; readonly text: string }
  /** A tool had an effect. */
  | { readonly type: "effect" }
  /** A hook was asked for the text of a summary, or is about to answer. */
  | { readonly type: "hook" }
  /** A user was told that their text is stored. */
  | { readonly type: "said"; readonly input: string; readonly text: string }
  /** A user was told that their answer is stored. */
  | { readonly type: "answered"; readonly question: string };

/** Returns whether the program may be killed at an announcement: at each in a long run, else at all but deltas. */
export function isInstant({ type }: Announcement, every: boolean): boolean {
  return every || type !== "delta";
}

/** Prints announcements. After the instant number `last`, the program stops, so that it is killed there. */
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

/** Announces an item that a feed consumer got. */
export function show(witness: Witness, item: FeedItem): void {
  if ("at" in item) witness.tell({ type: "event", event: item });
  else if (item.type === "text.delta" || item.type === "reasoning.delta") {
    witness.tell({ type: "delta", message: item.message, part: item.part, text: item.text });
  }
}

/** Waits to be killed. Without a killer, the program kills itself after a minute. */
function awaitDeath(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
  process.kill(process.pid, "SIGKILL");
}

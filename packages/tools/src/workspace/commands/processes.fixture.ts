import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Returns a number of seconds for `sleep` that no other process uses, so that the test finds its processes. */
export function uniqueSleep(): string {
  return `1${Number.parseInt(randomUUID().slice(0, 8), 16)}`;
}

/** Returns the ids of living processes whose command line contains the text. */
export function living(text: string): string[] {
  return readdirSync("/proc").filter((id) => {
    if (!/^\d+$/.test(id) || id === String(process.pid)) return false;
    try {
      const isZombie = /\) Z/.test(readFileSync(`/proc/${id}/stat`, "latin1"));
      return !isZombie && readFileSync(`/proc/${id}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

/** A clock that stops while this process does not run, so that a busy machine does not matter. */
export class OwnTime implements Disposable {
  #ticks = 0;
  readonly #ticking = setInterval(() => (this.#ticks += 1), 10);

  get milliseconds(): number {
    return 10 * this.#ticks;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticking);
  }
}

/** Waits for a condition. The test's timeout is the only limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

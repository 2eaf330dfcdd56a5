import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A number of seconds for `sleep` that no other process uses: what bears it belongs to this test. */
export function uniqueSleep(): string {
  return `1${Number.parseInt(randomUUID().slice(0, 8), 16)}`;
}

/** The ids of living processes whose command line holds this text. */
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

/** A clock that stands still while this process does: what others take of a busy machine does not count. */
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

/** Waits until something holds; the time-out of the test ends it otherwise. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

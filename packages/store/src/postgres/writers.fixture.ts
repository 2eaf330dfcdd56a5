import { setTimeout as sleep } from "node:timers/promises";
import { type Store, StoreError } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { expect } from "vitest";
import { events, readAll } from "../sqlite/store.fixture.ts";

const LOGS = 12;

/** Writers of one store that append without pause, every third time durably, whatever happens to the database. */
export class Writers {
  readonly #store: Store;
  readonly #logs = new Map<string, Log>();
  /** The last durable event of each writer. */
  readonly #durable = new Map<string, number>();
  #isOver = false;
  readonly #writing: Promise<void>[] = [];

  private constructor(store: Store) {
    this.#store = store;
  }

  static async begin(store: Store): Promise<Writers> {
    const writers = new Writers(store);
    const ids = Array.from({ length: LOGS }, (_, index) => `log${index}`);
    for (const id of ids) await writers.#open(id);
    writers.#writing.push(...ids.map((id) => writers.#write(id)));
    return writers;
  }

  /** Resolves when each writer has written durably since the call, at a random moment. */
  async haveWritten(): Promise<void> {
    const before = new Map(this.#durable);
    const isBehind = (id: string) => (this.#durable.get(id) ?? 0) <= (before.get(id) ?? 0);
    // Do not wait for failed writers.
    while ([...this.#logs.keys()].some(isBehind)) await Promise.race([sleep(Math.random() * 20), ...this.#writing]);
  }

  /** Stops the writers. Checks that all acknowledged durable events exist, in order and once. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writing);
    for (const [id, log] of this.#logs) {
      const all = await readAll(log);
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
      expect(all.length).toBe(log.seq);
      expect(all.length).toBeGreaterThanOrEqual(this.#durable.get(id) ?? 0);
      expect(log.damage).toEqual([]);
    }
  }

  async #open(id: string): Promise<Log> {
    const log = await this.#store.open(id, { create: true });
    expect(log.seq).toBeGreaterThanOrEqual(this.#durable.get(id) ?? 0);
    this.#logs.set(id, log);
    return log;
  }

  async #write(id: string): Promise<void> {
    for (let round = 0; !this.#isOver; round++) {
      const log = this.#logs.get(id) as Log;
      try {
        const isDurable = round % 3 === 0;
        await log.append(events(log, 1 + (round % 4)), { durable: isDurable });
        if (isDurable) this.#durable.set(id, log.seq);
      } catch (error) {
        expect(error).toBeInstanceOf(StoreError);
        expect(error).toMatchObject({ code: "stale", message: expect.stringContaining("lost its last events") });
        await log.close();
        await this.#open(id);
      }
    }
  }
}

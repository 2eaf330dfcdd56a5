import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { expect, onTestFinished, test } from "vitest";
import { events, readAll } from "../sqlite/fixture.ts";
import { killPostgres, makeFolder, restartPostgres, startPostgres } from "../testing/postgres-server.fixture.ts";
import { describeWithPostgres, storeAt } from "./fixture.ts";

const CRASHES = process.env.BANYAN_LONG ? 25 : 2;
const LOGS = 12;

describeWithPostgres("a database that is killed", () => {
  test("F5 comes back with all that was durable, in order and once; who was ahead of it is refused, and opens anew", async () => {
    const folder = `${process.env.TMPDIR}-postgres-crash`;
    makeFolder(folder);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
    let server = await startPostgres(folder);
    onTestFinished(() => killPostgres(server).catch(() => {}));
    const port = Number(new URL(server.url).port);
    const store = storeAt(server.url);
    const open = (id: string) => store.open(id, { create: true });
    const ids = Array.from({ length: LOGS }, (_, index) => `log${index}`);
    const logs = new Map<string, Log>();
    for (const id of ids) logs.set(id, await open(id));
    /** The last event of each that was durable when its append was done. */
    const durable = new Map<string, number>();
    let isOver = false;
    const write = async (id: string) => {
      for (let round = 0; !isOver; round++) {
        const log = logs.get(id) as Log;
        try {
          const isDurable = round % 3 === 0;
          await log.append(events(log, 1 + (round % 4)), { durable: isDurable });
          if (isDurable) durable.set(id, log.seq);
        } catch (error) {
          expect(error).toBeInstanceOf(StoreError);
          expect(error).toMatchObject({ code: "stale", message: expect.stringContaining("the database was set back") });
          await log.close();
          const again = await open(id);
          expect(again.seq).toBeGreaterThanOrEqual(durable.get(id) ?? 0);
          logs.set(id, again);
        }
      }
    };
    const writing = ids.map(write);
    for (let crash = 0; crash < CRASHES; crash++) {
      // Until all have written behind the last crash; the moment in their appends is left to chance.
      const before = new Map(durable);
      while (ids.some((id) => (durable.get(id) ?? 0) <= (before.get(id) ?? 0))) await sleep(Math.random() * 20);
      await killPostgres(server);
      server = await restartPostgres(folder, port);
    }
    isOver = true;
    await Promise.all(writing);
    for (const id of ids) {
      const log = logs.get(id) as Log;
      const all = await readAll(log);
      expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1));
      expect(all.length).toBe(log.seq);
      expect(all.length).toBeGreaterThanOrEqual(durable.get(id) ?? 0);
      expect(log.damage).toEqual([]);
    }
  });
});

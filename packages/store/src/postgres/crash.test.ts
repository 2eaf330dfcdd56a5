import { rmSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { events, readAll } from "../sqlite/store.fixture.ts";
import { killPostgres, makeFolder, restartPostgres, startPostgres } from "../testing/postgres-server.fixture.ts";
import { failOver, makePairs, startPair } from "../testing/standby.fixture.ts";
import { wireTo } from "../testing/wire.fixture.ts";
import { describeWithPostgres, storeAt } from "./store.fixture.ts";
import { Writers } from "./writers.fixture.ts";

const LONG = Boolean(process.env.BANYAN_LONG);
const CRASHES = LONG ? 25 : 2;
const FAIL_OVERS = 5;

describeWithPostgres("a database that is killed", () => {
  test("F5 comes back with all that was durable, in order and once; who was ahead of it is refused, and opens anew", async () => {
    const folder = ownFolder("postgres-crash");
    makeFolder(folder);
    let server = await startPostgres(folder);
    onTestFinished(() => killPostgres(server).catch(() => {}));
    const port = Number(new URL(server.url).port);
    const writers = await Writers.begin(storeAt(server.url));
    for (let crash = 0; crash < CRASHES; crash++) {
      await writers.haveWritten();
      await killPostgres(server);
      server = await restartPostgres(folder, port);
    }
    await writers.haveWritten();
    await writers.end();
  });
});

describeWithPostgres("a database whose standby takes its place", () => {
  /** A pair of servers, behind a proxy that leads to the primary, and to the standby after the failover. */
  async function pairs() {
    const folder = ownFolder("postgres-pairs");
    await makePairs(folder);
    return async (name: string) => {
      const pair = await startPair(folder, name);
      onTestFinished(() => killPostgres(pair.primary).catch(() => {}));
      onTestFinished(() => killPostgres(pair.standby).catch(() => {}));
      let { url } = pair.primary;
      const wire = await wireTo(() => Number(new URL(url).port));
      onTestFinished(() => wire[Symbol.dispose]());
      /** No client connects meanwhile, as with an address that follows the primary. */
      const takePlace = async () => {
        const up = wire.down();
        await failOver(pair);
        url = pair.standby.url;
        up();
      };
      return { wire, url: wire.via(pair.primary.url), takePlace };
    };
  }

  test.skipIf(!LONG)(
    "F5 has all that was durable, in order and once; who was ahead of it is refused, and opens anew",
    async () => {
      const start = await pairs();
      for (let round = 0; round < FAIL_OVERS; round++) {
        const { url, takePlace } = await start(`many ${round}`);
        const writers = await Writers.begin(storeAt(url));
        await writers.haveWritten();
        await takePlace();
        await writers.haveWritten();
        await writers.end();
      }
    },
  );

  for (const when of ["before", "after"] as const)
    test.skipIf(!LONG)(
      `F5 finds out whether an append that was not answered has happened: the first was killed ${when} it was carried out, and it is there once`,
      async () => {
        const start = await pairs();
        for (let round = 0; round < FAIL_OVERS; round++) {
          const { wire, url, takePlace } = await start(`${when} ${round}`);
          const store = storeAt(url);
          const log = await store.open("unanswered", { create: true });
          await log.append(events(log, 2), { durable: true });
          const taken = Promise.withResolvers<void>();
          // The next piece is the append.
          wire.cutAt(1, when, () => void takePlace().then(taken.resolve, taken.reject));
          await log.append(events(log, 3), { durable: true });
          await taken.promise;
          expect(log.seq).toBe(5);
          await log.append(events(log, 1), { durable: true });
          expect((await readAll(log)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
          await store.close();
        }
      },
    );
});

function ownFolder(name: string): string {
  const folder = `${process.env.TMPDIR}-${name}`;
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));
  return folder;
}

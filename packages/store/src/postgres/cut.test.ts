import { type Event, type Store, StoreError } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { expect, onTestFinished, test } from "vitest";
import { events, readAll } from "../sqlite/store.fixture.ts";
import { describeWithPostgres, ownDatabase, storeAt, wireToDatabase } from "./store.fixture.ts";

describeWithPostgres("a connection that breaks", () => {
  const database = ownDatabase();
  let conversations = 0;

  /** Uses all functions of a store while one piece breaks the connection. Returns the number of pieces. */
  async function live(
    { wire, url }: Awaited<ReturnType<typeof wireToDatabase>>,
    piece: number,
    when: "before" | "after",
  ): Promise<number> {
    const id = `cut${++conversations}`;
    const store = storeAt(url);
    // Before the database has answered once, an absent database is an error.
    await store.list();
    wire.cutAt(piece, when);
    const log = await store.open(id, { create: true });
    const told: Event[] = [];
    const append = async (count: number, durable: boolean) => {
      const more = events(log, count);
      await log.append(more, { durable });
      told.push(...more);
    };
    await append(3, false);
    await append(1, true);
    await log.append([], { durable: true });
    await log.rights?.write({ rules: [id], calls: {} });
    await append(2, true);
    expect(await readAll(log)).toEqual(told);
    expect(await log.rights?.read()).toEqual({ rules: [id], calls: {} });
    expect((await store.list()).find((one) => one.id === id)?.updatedAt).toBe(6);
    expect(await store.search("message 5", { conversation: id })).toHaveLength(1);
    await log.close();
    const again = await store.open(id);
    await again.append(events(again, 1));
    expect(await readAll(again)).toHaveLength(told.length + 1);
    await again.close();
    const { sent } = wire;
    await store.close();
    return sent;
  }

  for (const when of ["before", "after"] as const)
    test(`is made again at every statement: broken ${when} it was carried out, nothing is lost and nothing is there twice`, async () => {
      const through = await wireToDatabase(await database.url());
      const all = await live(through, 0, when);
      expect(all).toBeGreaterThan(10);
      for (let piece = 1; piece <= all; piece++) await live(through, piece, when);
    });

  test("of many that are appended at once, each is there once, however often the connection breaks", async () => {
    const { wire, url } = await wireToDatabase(await database.url());
    const store = storeAt(url);
    const logs = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.open(`many${index}`, { create: true })),
    );
    for (let round = 1; round <= (process.env.BANYAN_LONG ? 200 : 10); round++) {
      wire.cutAt(1 + (round % 5), round % 2 === 0 ? "before" : "after");
      await Promise.all(logs.map((log) => log.append(events(log, 2), { durable: round % 3 === 0 })));
      for (const log of logs) expect(log.seq).toBe(2 * round);
    }
    for (const log of logs) expect((await readAll(log)).map(({ seq }) => seq)).toEqual(numbersTo(log.seq));
  });

  test("a database that is away is waited for, as long as there is patience", async () => {
    const { wire, url } = await wireToDatabase(await database.url());
    const store = storeAt(url);
    const log = await store.open("away", { create: true });
    const up = wire.down();
    const appended = log.append(events(log, 1));
    up();
    await appended;
    expect(log.seq).toBe(1);

    const impatient = storeAt(url, { patience: 200 });
    const other = await impatient.open("away too", { create: true });
    const upAgain = wire.down();
    onTestFinished(upAgain);
    const refusal = await refusalOf(other, impatient);
    expect(refusal).toMatchObject({ code: "unusable", message: expect.stringContaining("does not answer") });
  });

  async function refusalOf(log: Log, store: Store): Promise<unknown> {
    await expect(store.list()).rejects.toBeInstanceOf(StoreError);
    return Promise.resolve(log.append(events(log, 1))).catch((error: unknown) => error);
  }
});

function numbersTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

import { Agent, createId, Session } from "@banyan/core";
import { scriptedModel, storeConformance } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { events, ID, readAll } from "../sqlite/store.fixture.ts";
import { durableObjectStore } from "./index.ts";
import { testStorage } from "./storage.fixture.ts";

describe("L8: the store in a Durable Object keeps the contract of stores", () => {
  const make = async () => {
    const storage = testStorage();
    return { store: durableObjectStore(storage), reopen: async () => durableObjectStore(storage) };
  };
  for (const { name, run } of storeConformance(make)) test(name, run);
});

test("L8: an append is done at once, and a durable append waits for the flush", async () => {
  const storage = testStorage();
  const log = await durableObjectStore(storage).open(ID, { create: true });
  expect(log.append(events(log, 1))).toBeUndefined();
  expect(storage.flushes).toBe(0);
  await log.append(events(log, 1), { durable: true });
  expect(storage.flushes).toBe(1);
  expect(log.seq).toBe(2);
});

test("L8: an append writes one row for each event, and the row for lists only if a list changes", async () => {
  const storage = testStorage();
  const session = await Session.open(durableObjectStore(storage), ID, { create: true });
  const agent = new Agent({ model: scriptedModel(["An oak.", "A fig."]) });
  await agent.send("Which tree?", { session });
  const before = session.state.seq;
  storage.statements.length = 0;
  await agent.send("And another?", { session });
  const written = storage.statements.filter((statement) => /^\s*(INSERT|UPDATE|DELETE)/.test(statement));
  expect(written.length).toBe(session.state.seq - before);
  await session.close();
});

test("L8: two stores on one storage share its locks, and another object's storage has its own", async () => {
  const storage = testStorage();
  const log = await durableObjectStore(storage).open(ID, { create: true });
  const other = durableObjectStore(storage);
  await expect(other.open(ID)).rejects.toMatchObject({ code: "locked" });
  await (await durableObjectStore(testStorage()).open(ID, { create: true })).close();
  await log.close();
  await (await other.open(ID)).close();
});

test("L8: after an eviction without a close, the conversation opens, and the object before it cannot write", async () => {
  const storage = testStorage();
  const evicted = await durableObjectStore(storage).open(ID, { create: true });
  await evicted.append(events(evicted, 3));
  // Cloudflare makes another storage object for the same data.
  const log = await durableObjectStore({ ...storage }).open(ID);
  expect(log.seq).toBe(3);
  expect(() => evicted.append(events(evicted, 1))).toThrow(expect.objectContaining({ code: "stale" }));
  await log.append(events(log, 1));
  expect(await readAll(log)).toHaveLength(4);
});

test("L8: a damaged event is skipped and reported", async () => {
  const storage = testStorage();
  const log = await durableObjectStore(storage).open(ID, { create: true });
  await log.append(events(log, 4));
  storage.database.exec("UPDATE banyan_events SET body = '{}' WHERE seq = 2; DELETE FROM banyan_events WHERE seq = 3");
  expect((await readAll(log)).map(({ seq }) => seq)).toEqual([1, 4]);
  expect(log.damage).toEqual([`Events 2 to 3 of conversation ${ID} are damaged and were skipped.`]);
});

test.each([
  ["database or disk is full: SQLITE_FULL", "full", /^The storage of this Durable Object is full; /],
  ["string or blob too big: SQLITE_TOOBIG", "unusable", /^The storage of this Durable Object cannot be used \(string/],
])("F75: an append that fails with %s is refused, and nothing of it remains", async (message, code, sentence) => {
  const storage = testStorage();
  const log = await durableObjectStore(storage).open(ID, { create: true });
  await log.append(events(log, 1));
  const exec = storage.sql.exec.bind(storage.sql);
  let fails = false;
  let inserts = 0;
  Object.assign(storage.sql, {
    exec(query: string, ...values: (string | number)[]) {
      if (fails && query.startsWith("INSERT") && ++inserts === 2) throw new Error(message);
      return exec(query, ...values);
    },
  });
  fails = true;
  expect(() => log.append(events(log, 3))).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(sentence) }),
  );
  fails = false;
  expect(log.seq).toBe(1);
  await log.append(events(log, 2));
  expect((await readAll(log)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test.each([undefined, {}, { storage: testStorage() }])("L11: %o is no storage", (storage) => {
  expect(() => durableObjectStore(storage as never)).toThrow(
    "storage of durableObjectStore must be the storage of a Durable Object: ctx.storage.",
  );
});

test("F10: characters of two units stay whole, wherever a long event is cut", async () => {
  const store = durableObjectStore(testStorage());
  for (const before of ["", "x"]) {
    const log = await store.open(createId(), { create: true });
    const title = before + "🌳".repeat(700_000);
    await log.append([{ type: "title.changed", title, seq: 1, epoch: log.epoch, at: 1 }]);
    expect(await readAll(log)).toMatchObject([{ title }]);
    expect(log.damage).toEqual([]);
  }
});

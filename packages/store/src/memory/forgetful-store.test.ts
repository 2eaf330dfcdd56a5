import type { Event } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { expect, test } from "vitest";
import { forgetfulStore } from "./index.ts";

const ID = "01k00000000000000000000000";

function event(log: Log, seq: number): Event {
  return { type: "model.changed", model: "a/b", seq, epoch: log.epoch, at: seq };
}

test("the forgetful store counts events and keeps none", async () => {
  const store = forgetfulStore();
  const log = await store.open(ID, { create: true });
  expect(log.append([event(log, 1), event(log, 2)])).toBeUndefined();
  expect(log.seq).toBe(2);
  for await (const batch of log.read()) expect.unreachable(`${batch.length} events were kept`);
  expect(await store.list()).toEqual([]);
});

test("the forgetful store refuses gaps, other writers and conversations that it never saw", async () => {
  const store = forgetfulStore();
  await expect(store.open(ID)).rejects.toMatchObject({ code: "not-found" });
  const first = await store.open(ID, { create: true });
  expect(() => first.append([event(first, 2)])).toThrow(expect.objectContaining({ code: "stale" }));
  await first.append([event(first, 1)]);
  await expect(store.open(ID)).rejects.toMatchObject({ code: "locked" });
  const second = await store.open(ID, { take: true });
  expect(second.epoch).toBeGreaterThan(first.epoch);
  expect(second.seq).toBe(1);
  expect(() => first.append([event(first, 2)])).toThrow(expect.objectContaining({ code: "stale" }));
  await second.append([event(second, 2)]);
});

test("the forgetful store finds nothing, and forgets how far a conversation has come when it is removed", async () => {
  const store = forgetfulStore();
  const log = await store.open(ID, { create: true });
  await log.append([event(log, 1)]);
  expect(await store.search("a")).toEqual([]);
  await expect(store.remove(ID)).rejects.toMatchObject({ code: "locked" });
  await log.close();
  await store.remove(ID);
  await expect(store.remove(ID)).rejects.toMatchObject({ code: "not-found" });
  await expect(store.open(ID)).rejects.toMatchObject({ code: "not-found" });
});

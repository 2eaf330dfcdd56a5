import assert from "node:assert/strict";
import type { Event } from "../../conversation/event.ts";
import { StoreError } from "../../ports/store.ts";
import { type Checks, conversation, create, ID, OTHER, readAll, refused } from "./case.ts";

export const writerCases: Checks = {
  async "F5 a conversation that is open is refused to everyone else, until it is closed"(store) {
    const first = await create(store, ID);
    const events = conversation(first, ["one", "two"]);
    await first.append(events.slice(0, 1));
    await refused("locked", () => store.open(ID));
    await refused("locked", () => create(store, ID));
    await first.append(events.slice(1, 2));
    await first.close();
    const second = await store.open(ID);
    assert.ok(second.epoch > first.epoch);
    await second.append(events.slice(2));
    assert.deepEqual(await readAll(second), events);
  },

  async "F5 the refusal names the process that has the conversation open"(store) {
    await create(store, ID);
    const refusal = await store.open(ID).catch((error: unknown) => error);
    assert.ok(refusal instanceof StoreError);
    assert.match(refusal.message, new RegExp(`\\b${process.pid}\\b`));
  },

  async "F5 who takes a log fences off whoever had it open"(store) {
    const first = await create(store, ID);
    const events = conversation(first, ["one", "two", "three"]);
    await first.append(events.slice(0, 2));
    const second = await store.open(ID, { take: true });
    assert.ok(second.epoch > first.epoch);
    assert.equal(second.seq, 2);
    await refused("stale", () => first.append(events.slice(2)));
    await refused("stale", () => first.append(events.slice(2), { durable: true }));
    assert.deepEqual(await readAll(second), events.slice(0, 2));
    await second.append(events.slice(2));
    assert.deepEqual(await readAll(second), events);
  },

  async "F5 whoever was fenced off does not open the log to others by closing it"(store) {
    const first = await create(store, ID);
    const second = await store.open(ID, { take: true });
    await first.close();
    await refused("locked", () => store.open(ID));
    await second.append(conversation(second, ["one"]));
  },

  async "F5 of many that open a log at once, one has it"(store) {
    await (await create(store, ID)).close();
    const opened = await Promise.allSettled(Array.from({ length: 8 }, () => store.open(ID)));
    const logs = opened.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    assert.equal(logs.length, 1);
    for (const result of opened) {
      if (result.status === "rejected") await refused("locked", () => Promise.reject(result.reason));
    }
  },

  async "F5 of many that take a log at once, each has an epoch and one can write"(store) {
    await (await create(store, ID)).close();
    const logs = await Promise.all(Array.from({ length: 8 }, () => store.open(ID, { take: true })));
    assert.equal(new Set(logs.map((log) => log.epoch)).size, logs.length);
    const newest = Math.max(...logs.map((log) => log.epoch));
    for (const log of logs) {
      const [event] = conversation(log, []) as [Event];
      if (log.epoch === newest) await log.append([event]);
      else await refused("stale", () => log.append([event]));
    }
  },

  async "a conversation that is not there is not found"(store) {
    await refused("not-found", () => store.open(ID));
    await create(store, OTHER);
    await refused("not-found", () => store.open(ID));
  },

  async "taking what is not there is no way to make it"(store) {
    await refused("not-found", () => store.open(ID, { take: true }));
  },

  async "a removed conversation is gone, and its id can be used anew"(store, reopen) {
    const log = await create(store, ID);
    await log.append(conversation(log, ["banyan"]));
    const other = await create(store, OTHER);
    await other.append(conversation(other, ["banyan"]));
    assert.equal((await store.search("banyan")).length, 2);
    await log.close();
    await other.close();
    await store.remove(ID);
    const later = reopen ? await reopen() : store;
    await refused("not-found", () => later.open(ID));
    assert.deepEqual(
      (await later.list()).map(({ id }) => id),
      [OTHER],
    );
    assert.deepEqual(
      (await later.search("banyan")).map((hit) => hit.conversation),
      [OTHER],
    );
    const anew = await create(later, ID);
    assert.equal(anew.seq, 0);
    assert.deepEqual(await readAll(anew), []);
  },

  async "a conversation that is open is not removed, nor one that is not there"(store) {
    const log = await create(store, ID);
    const events = conversation(log, ["one"]);
    await log.append(events);
    await refused("locked", () => store.remove(ID));
    await refused("not-found", () => store.remove(OTHER));
    assert.deepEqual(await readAll(log), events);
  },
};

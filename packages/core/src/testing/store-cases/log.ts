import assert from "node:assert/strict";
import type { Event } from "../../conversation/event.ts";
import { type Checks, conversation, create, ID, NOW, OTHER, readAll, refused, texts } from "./case.ts";

export const logCases: Checks = {
  async "events come back as they were appended, in order"(store) {
    const log = await create(store);
    const events = conversation(log, ["one", "two", "three"]);
    await log.append(events.slice(0, 1));
    await log.append(events.slice(1, 3));
    await log.append(events.slice(3), { durable: true });
    assert.deepEqual(await readAll(log), events);
    assert.equal(log.seq, events.length);
  },

  async "a new log is empty"(store) {
    const log = await create(store);
    assert.equal(log.seq, 0);
    assert.deepEqual(await readAll(log), []);
  },

  async "reading goes on after a sequence number"(store) {
    const log = await create(store);
    const events = conversation(log, ["one", "two", "three", "four"]);
    await log.append(events);
    assert.deepEqual(await readAll(log, 2), events.slice(2));
    assert.deepEqual(await readAll(log, events.length), []);
  },

  async "two readers do not disturb each other or the writer"(store) {
    const log = await create(store);
    const events = conversation(log, texts(3000));
    await log.append(events.slice(0, 2900));
    const first = log.read()[Symbol.asyncIterator]();
    const begun = await first.next();
    assert.deepEqual(await readAll(log, 10), events.slice(10, 2900));
    await log.append(events.slice(2900));
    const seen: Event[] = begun.done ? [] : [...begun.value];
    for (let next = await first.next(); !next.done; next = await first.next()) seen.push(...next.value);
    assert.ok(seen.length >= 2900, "what was there when reading began is read");
    assert.deepEqual(seen, events.slice(0, seen.length));
  },

  async "whoever looks sees what is there, disturbs no writer, and is not disturbed"(store) {
    const log = await create(store, ID);
    const events = conversation(log, texts(2000));
    await log.append(events.slice(0, 1500));
    const view = await store.view(ID);
    assert.equal(view.seq, 1500);
    assert.equal(view.isOpen, true);
    await log.append(events.slice(1500));
    assert.deepEqual(await readAll(view), events.slice(0, 1500));
    assert.deepEqual(await readAll(view, 1000), events.slice(1000, 1500));
    await view.close();
    await log.close();
    const later = await store.view(ID);
    assert.deepEqual(await readAll(later), events);
    assert.equal(later.isOpen, false);
    await later.close();
    await (await store.open(ID)).close();
  },

  async "what is not there cannot be looked at"(store) {
    await refused("not-found", () => store.view(OTHER));
  },

  async "an append without events changes nothing"(store) {
    const log = await create(store);
    await log.append([]);
    await log.append([], { durable: true });
    assert.equal(log.seq, 0);
    assert.deepEqual(await readAll(log), []);
  },

  async "F3 an append is all or nothing"(store) {
    const log = await create(store);
    const events = conversation(log, ["one", "two", "three"]);
    const [first, second, , fourth] = events as [Event, Event, Event, Event];
    await log.append([first]);
    await refused("stale", () => log.append([second, fourth]));
    assert.equal(log.seq, 1);
    assert.deepEqual(await readAll(log), [first]);
    await log.append(events.slice(1));
    assert.deepEqual(await readAll(log), events);
  },

  async "F6 a gap and a repeat in the sequence are refused"(store) {
    const log = await create(store);
    const events = conversation(log, ["one", "two", "three"]);
    await log.append(events.slice(0, 2));
    await refused("stale", () => log.append(events.slice(3)));
    await refused("stale", () => log.append(events.slice(1, 2)));
    await refused("stale", () => log.append(events.slice(0, 1)));
    assert.deepEqual(await readAll(log), events.slice(0, 2));
  },

  async "F4 all of Unicode comes back, lone surrogates, NUL and line separators too"(store, reopen) {
    let log = await create(store, ID);
    const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
    // In descending order, low surrogates precede high surrogates, so no pairs occur.
    const text = units.toReversed().join("");
    const events = conversation(log, [text, "👩‍👩‍👧‍👦 שלום नमस्ते \u{10ffff}"], {
      labels: { "\ud800": "\udc00", "\u2028": "\0" },
    });
    await log.append(events);
    if (reopen) log = await (await reopen()).open(ID);
    assert.deepEqual(await readAll(log), events);
  },

  async "events of a type that nobody knows yet are kept"(store) {
    const log = await create(store);
    const event = {
      seq: 1,
      epoch: log.epoch,
      at: NOW,
      type: "future.thing",
      deep: [{ a: [null, 1.5e300, -0.25, true] }],
    };
    await log.append([event as unknown as Event]);
    assert.deepEqual(await readAll(log), [event]);
  },

  async "F10 events of 5 MB come back"(store) {
    const log = await create(store);
    const events = conversation(
      log,
      ["a", "b", "c", "d"].map((letter) => letter.repeat(5 * 1024 * 1024)),
    );
    for (const event of events) await log.append([event], { durable: true });
    assert.deepEqual(await readAll(log), events);
  },

  async "F10 many events are read in batches, none of them empty"(store) {
    const log = await create(store);
    const events = conversation(log, texts(20_000));
    for (let at = 0; at < events.length; at += 250) await log.append(events.slice(at, at + 250));
    const read: Event[] = [];
    let batches = 0;
    for await (const batch of log.read()) {
      assert.ok(batch.length > 0);
      batches++;
      for (const event of batch) read.push(event);
    }
    assert.ok(batches > 1, "20,000 events are not one batch");
    assert.deepEqual(read, events);
  },

  async "nothing that is intact is called damaged"(store) {
    const log = await create(store);
    await log.append(conversation(log, texts(1000)));
    await readAll(log);
    assert.deepEqual(log.damage ?? [], []);
  },

  async "conversations keep to themselves"(store) {
    const one = await create(store, ID);
    const other = await create(store, OTHER);
    const ones = conversation(one, ["one"]);
    const others = conversation(other, ["other", "another"]);
    await one.append(ones);
    await other.append(others);
    assert.deepEqual(await readAll(one), ones);
    assert.deepEqual(await readAll(other), others);
  },

  async "logs and stores can be closed twice; a closed log is not written to"(store) {
    const log = await create(store, ID);
    const events = conversation(log, ["one"]);
    await log.append(events.slice(0, 1));
    await log.close();
    await log.close();
    await refused(undefined, () => log.append(events.slice(1)));
    const again = await store.open(ID);
    assert.deepEqual(await readAll(again), events.slice(0, 1));
    await store.close();
    await store.close();
    await refused(undefined, () => again.append(events.slice(1)));
  },

  async "a clock that goes backwards changes no order"(store, reopen) {
    let log = await create(store, ID);
    const [created, ...said] = conversation(log, ["one", "two", "three"]) as [Event, ...Event[]];
    const events = [created, ...said.map((event, index) => ({ ...event, at: NOW - 1_000_000 * (index + 1) }))];
    for (const event of events) await log.append([event]);
    assert.deepEqual(await readAll(log), events);
    const { epoch } = log;
    await log.close();
    log = await (reopen ? await reopen() : store).open(ID);
    assert.equal(log.seq, events.length);
    assert.ok(log.epoch > epoch);
    assert.deepEqual(await readAll(log), events);
  },

  async "what was appended is there when the store is opened again"(store, reopen) {
    if (!reopen) return;
    const log = await create(store, ID);
    const events = conversation(log, ["one", "two", "three"], { labels: { a: "b" } });
    await log.append(events.slice(0, 2), { durable: true });
    await log.append(events.slice(2, 3));
    const summaries = await store.list();
    const later = await reopen();
    assert.deepEqual(await later.list(), summaries);
    const again = await later.open(ID);
    assert.equal(again.seq, 3);
    assert.ok(again.epoch > log.epoch);
    await again.append(events.slice(3));
    await again.close();
    assert.deepEqual(await readAll(await (await reopen()).open(ID)), events);
  },
};

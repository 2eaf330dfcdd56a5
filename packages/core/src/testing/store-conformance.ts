import assert from "node:assert/strict";
import type { Event, EventBody } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { type Log, type Store, StoreError, type StoreErrorCode } from "../ports/store.ts";

/** A store to be tested, empty and owned by one case. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Opens what `store` kept a second time, after `store` was closed. Absent when it keeps nothing beyond its life. */
  reopen?(): Promise<Store>;
  /** Removes what was made; the stores are closed by then. */
  cleanUp?(): Promise<void>;
}

/** One thing that a store must do. `run` rejects when it does not. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * What every `Store` must do, for any test runner:
 * `for (const { name, run } of storeConformance(make)) test(name, run);`
 *
 * `make` is called once for each case. Cases that are about reopening pass when `make` gives no `reopen`.
 */
export function storeConformance(make: () => Promise<StoreUnderTest>): readonly ConformanceCase[] {
  return Object.entries(cases).map(([name, check]) => ({
    name,
    async run() {
      const subject = await make();
      const stores = [subject.store];
      const reopen = subject.reopen?.bind(subject);
      try {
        await check(
          subject.store,
          reopen &&
            (async () => {
              await stores.at(-1)?.close();
              const store = await reopen();
              stores.push(store);
              return store;
            }),
        );
      } finally {
        for (const store of stores) await store.close();
        await subject.cleanUp?.();
      }
    },
  }));
}

type Check = (store: Store, reopen: (() => Promise<Store>) | undefined) => Promise<void>;

const cases: Readonly<Record<string, Check>> = {
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

  async "F5 who opens a log fences off whoever had it open"(store) {
    const first = await create(store, ID);
    const events = conversation(first, ["one", "two", "three"]);
    await first.append(events.slice(0, 2));
    const second = await store.open(ID);
    assert.ok(second.epoch > first.epoch);
    assert.equal(second.seq, 2);
    await refused("stale", () => first.append(events.slice(2)));
    await refused("stale", () => first.append(events.slice(2), { durable: true }));
    assert.deepEqual(await readAll(second), events.slice(0, 2));
    await second.append(events.slice(2));
    assert.deepEqual(await readAll(second), events);
  },

  async "F5 of many that open a log at once, each has an epoch and one can write"(store) {
    await (await create(store, ID)).close();
    const logs = await Promise.all(Array.from({ length: 8 }, () => store.open(ID)));
    assert.equal(new Set(logs.map((log) => log.epoch)).size, logs.length);
    const newest = Math.max(...logs.map((log) => log.epoch));
    for (const log of logs) {
      const [event] = conversation(log, []) as [Event];
      if (log.epoch === newest) await log.append([event]);
      else await refused("stale", () => log.append([event]));
    }
  },

  async "many that create a conversation at once share it"(store) {
    const logs = await Promise.all(Array.from({ length: 4 }, () => create(store, ID)));
    const newest = logs.reduce((a, b) => (a.epoch > b.epoch ? a : b));
    const events = conversation(newest, ["one"]);
    await newest.append(events);
    await Promise.all(logs.map((log) => log.close()));
    assert.deepEqual(await readAll(await store.open(ID)), events);
  },

  async "F4 all of Unicode comes back, lone surrogates, NUL and line separators too"(store, reopen) {
    let log = await create(store, ID);
    const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
    // Backwards, low surrogates come before high ones: none of them makes a pair.
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

  async "a conversation that is not there is not found"(store) {
    await refused("not-found", () => store.open(ID));
    await create(store, OTHER);
    await refused("not-found", () => store.open(ID));
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

  async "a list has the most recently written first, and no more than asked for"(store) {
    assert.deepEqual(await store.list(), []);
    const ids = [createId(), createId(), createId()] as const;
    for (const [index, minute] of [2, 3, 1].entries()) {
      const log = await create(store, ids[index]);
      await log.append(conversation(log, ["hello"], { at: NOW + minute * 60_000 }));
    }
    assert.deepEqual(await listed(store), [ids[1], ids[0], ids[2]]);
    const log = await store.open(ids[2]);
    await log.append([at(log, 3, { type: "model.changed", model: "a/b" }, NOW + 600_000)]);
    assert.deepEqual(await listed(store), [ids[2], ids[1], ids[0]]);
    assert.deepEqual(await listed(store, { limit: 2 }), [ids[2], ids[1]]);
  },

  async "a list leaves out what was never written to"(store) {
    await create(store);
    assert.deepEqual(await store.list(), []);
  },

  async "a list can be limited to labels"(store) {
    const [red, both, none] = [createId(), createId(), createId()];
    for (const [id, labels] of [
      [red, { colour: "red" }],
      [both, { colour: "red", size: "big \u2028 one" }],
      [none, {}],
    ] as const) {
      const log = await create(store, id);
      await log.append(conversation(log, ["hello"], { labels }));
    }
    assert.deepEqual((await listed(store, { labels: { colour: "red" } })).sort(), [red, both].sort());
    assert.deepEqual(await listed(store, { labels: { colour: "red", size: "big \u2028 one" } }), [both]);
    assert.deepEqual(await listed(store, { labels: { colour: "blue" } }), []);
    assert.equal((await store.list({ labels: {} })).length, 3);
  },

  async "a list has titles, labels and times, of conversations that are being written too"(store) {
    const log = await create(store, ID);
    await log.append(conversation(log, ["What is\n a banyan?", "And a fig?"], { labels: { a: "b" } }));
    const summary = { id: ID, title: "What is a banyan?", labels: { a: "b" }, createdAt: NOW, updatedAt: NOW + 2 };
    assert.deepEqual(await store.list(), [summary]);
    await log.append([at(log, 4, { type: "title.changed", title: "Trees" }, NOW + 9)]);
    assert.deepEqual(await store.list(), [{ ...summary, title: "Trees", updatedAt: NOW + 9 }]);
  },

  async "a title is well-formed, and short when it is made from a long message"(store) {
    const log = await create(store, ID);
    await log.append(conversation(log, [`\udc00${"🌳 tree ".repeat(10_000)}`]));
    const [summary] = await store.list();
    assert.ok(summary);
    assert.ok(summary.title.startsWith("\ufffd🌳 tree 🌳 tree"));
    assert.ok(summary.title.length <= 200);
    await log.append([at(log, 3, { type: "title.changed", title: "Trees \ud800" })]);
    assert.equal((await store.list())[0]?.title, "Trees \ufffd");
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

const ID = "01k0000000conformance00001";
const OTHER = "01k0000000conformance00002";
const NOW = 1_750_000_000_000;

function create(store: Store, id = createId()): Promise<Log> {
  return store.open(id, { create: true });
}

/** The events of a conversation in which these texts were said, a millisecond after each other. */
function conversation(
  log: Log,
  lines: readonly string[],
  options: { readonly labels?: Readonly<Record<string, string>>; readonly at?: number } = {},
): Event[] {
  const created = at(log, 1, { type: "conversation.created", id: ID, labels: options.labels ?? {} }, options.at);
  return [created, ...lines.map((text, index) => said(log, index + 2, text, options.at))];
}

function said(log: Log, seq: number, text: string, start = NOW): Event {
  const parentId = seq === 2 ? null : `m${seq - 1}`;
  const body: EventBody = {
    type: "message.added",
    message: `m${seq}`,
    parentId,
    role: "user",
    parts: [{ type: "text", text }],
  };
  return at(log, seq, body, start + seq - 1);
}

function at(log: Log, seq: number, body: EventBody, time = NOW): Event {
  return { ...body, seq, epoch: log.epoch, at: time };
}

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `text ${index}`);
}

async function readAll(log: Log, after?: number): Promise<Event[]> {
  const events: Event[] = [];
  for await (const batch of log.read(after)) for (const event of batch) events.push(event);
  return events;
}

async function listed(store: Store, query?: Parameters<Store["list"]>[0]): Promise<string[]> {
  return (await store.list(query)).map((summary) => summary.id);
}

/** `code`: the code that the error must have; any when undefined. */
async function refused(code: StoreErrorCode | undefined, attempt: () => unknown): Promise<void> {
  const outcome = await Promise.resolve()
    .then(attempt)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  assert.ok(outcome instanceof StoreError, `a StoreError was due, not ${String(outcome)}`);
  if (code !== undefined) assert.equal(outcome.code, code);
  assert.ok(outcome.message.length > 20, "the message is a sentence");
}

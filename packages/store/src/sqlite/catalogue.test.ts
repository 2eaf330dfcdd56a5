import { readdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Event, Store } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { expect, onTestFinished, test, vi } from "vitest";
import { countAccesses } from "../testing/counted-files.fixture.ts";
import { manyConversations, numberedId } from "../testing/many-conversations.fixture.ts";
import { nextLine, run } from "./child.fixture.ts";
import { sqliteStore } from "./index.ts";
import { events, ID, storeIn, temporaryDirectory } from "./store.fixture.ts";

/** Milliseconds after which a file clock tells a write from earlier writes. */
const SETTLED = 50;

test("V2: lists after a change read the changed conversation, however many conversations are stored", async () => {
  const accesses = [];
  onTestFinished(() => void vi.restoreAllMocks());
  for (const count of [40, 1_000]) {
    const directory = await temporaryDirectory();
    await manyConversations(directory, count);
    const store = storeIn(directory);
    const other = storeIn(directory);
    const [ours, theirs] = [numberedId(2), numberedId(3)];
    const log = await store.open(ours);
    const foreign = await other.open(theirs);
    await setTimeout(SETTLED);
    expect(await store.list()).toHaveLength(count);
    // A list looks at all files again after some seconds, which a slow machine may need.
    vi.spyOn(performance, "now").mockReturnValue(performance.now());
    const list = (query: Parameters<Store["list"]>[0], expected: readonly string[]) =>
      countAccesses(directory, async () => {
        expect((await store.list(query)).map(({ id }) => id)).toEqual(expected);
      });
    await log.append(events(log, 1).map((event) => ({ ...event, at: 1_760_000_000_000 })));
    await setTimeout(SETTLED);
    const own = await list({ conversations: [ours] }, [ours]);
    await foreign.append(events(foreign, 1).map((event) => ({ ...event, at: 1_770_000_000_000 })));
    await setTimeout(SETTLED);
    const page = await list({ limit: 2 }, [theirs, ours]);
    const again = await list({ conversations: [theirs, "no-such"] }, [theirs]);
    accesses.push({ own, page, again });
    vi.restoreAllMocks();
  }
  const [few, many] = accesses;
  expect(many).toEqual(few);
  // This process knows what it wrote. A page opens the other process's file, and saves its summary in the catalogue.
  expect(many).toMatchObject({ own: { looks: 2, opened: 0 }, page: { opened: 2 }, again: { looks: 3, opened: 0 } });
});

test("V2: a scan of many conversations lets other work run between its slices", async () => {
  const directory = await temporaryDirectory();
  await manyConversations(directory, 400);
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  expect(await storeIn(directory).list()).toHaveLength(400);
  isOver = true;
  expect(turns).toBeGreaterThan(5);
});

test("V2: other work runs between two pages of a list, also if the store has them in memory", async () => {
  const directory = await temporaryDirectory();
  await manyConversations(directory, 40);
  const store = storeIn(directory);
  await store.list();
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  let page = await store.list({ limit: 10 });
  setImmediate(turn);
  for (let pages = 1; page.length > 0; pages++) {
    page = await store.list({ limit: 10, after: page.at(-1) });
    expect(turns).toBeGreaterThanOrEqual(pages);
  }
  isOver = true;
});

test("V2: a process lists and reports conversations that another process begins, renames and removes", async () => {
  const directory = await temporaryDirectory();
  await manyConversations(directory, 30);
  const store = storeIn(directory);
  await setTimeout(SETTLED);
  expect(await store.list()).toHaveLength(30);
  const heard = new Set<string>();
  const hear = (ids: readonly string[]) => {
    for (const id of ids) heard.add(id);
  };
  onTestFinished(store.watch?.(hear) ?? (() => {}));
  const { child, lines } = run(
    directory,
    `let seq = 0;
    const steps = [
      () => log.append([{ type: "title.changed", title: "Begun", seq: ++seq, epoch: log.epoch, at: 1760000000001 }]),
      () => log.append([{ type: "title.changed", title: "Named", seq: ++seq, epoch: log.epoch, at: 1760000000002 }]),
      () => log.close(),
      () => store.remove(${JSON.stringify(numberedId(7))}),
    ];
    console.log("ready");
    process.stdin.on("data", async () => console.log(await steps.shift()()));`,
  );
  await nextLine(lines);
  const step = async () => {
    child.stdin?.write("\n");
    await nextLine(lines);
  };
  const newest = async () => (await store.list({ limit: 1 })).map(({ id, title }) => [id, title]);
  await step();
  expect(await newest()).toEqual([[ID, "Begun"]]);
  await step();
  expect(await newest()).toEqual([[ID, "Named"]]);
  expect((await store.list({ conversations: [ID] }))[0]?.title).toBe("Named");
  await step();
  expect(await newest()).toEqual([[ID, "Named"]]);
  await step();
  expect((await store.list()).map(({ id }) => id)).not.toContain(numberedId(7));
  expect(await store.list()).toHaveLength(30);
  await expect.poll(() => [...heard].sort()).toEqual([ID, numberedId(7)].sort());
});

/** Returns random numbers; the same seed gives the same numbers. */
function random(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ROUNDS = process.env.BANYAN_LONG ? 60 : 6;

test("V2: after any operations of two writers, every list equals a fresh reading of the files", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const pick = random(round);
    const directory = await temporaryDirectory();
    const stores = [storeIn(directory), storeIn(directory)];
    const logs = new Map<string, Log>();
    const former = new Map<string, Log>();
    let at = 1_000;
    const ids = Array.from({ length: 6 }, (_, index) => numberedId(index + 1));
    for (let count = 0; count < 60; count++) {
      const store = stores[pick(2)] as Store;
      const id = ids[pick(ids.length)] ?? ID;
      const log = logs.get(id);
      if (!log) await former.get(id)?.close();
      switch (pick(6)) {
        case 0:
        case 1:
          if (!log) logs.set(id, await store.open(id, { create: true }));
          else await log.append(bodies(log, pick, id, ++at));
          break;
        case 2:
          // The other store may take the conversation: its former writer then lists what the new writer writes.
          if (!log || log.seq === 0) break;
          await former.get(id)?.close();
          former.set(id, log);
          logs.set(id, await store.open(id, { take: true }));
          break;
        case 3:
          await log?.append(bodies(log, pick, id, ++at));
          break;
        case 4:
          await log?.close();
          logs.delete(id);
          break;
        default:
          if (!log && (await store.list({ conversations: [id] })).length > 0) await store.remove(id);
      }
      if (pick(3) > 0) continue;
      rmSync(`${directory}/catalogue.sqlite`, { force: true });
      const fresh = storeIn(directory);
      const expected = await fresh.list();
      await fresh.close();
      const place = `round ${round}, operation ${count}`;
      for (const each of stores) {
        expect(await each.list(), place).toEqual(expected);
        const some = [ids[pick(6)], ids[pick(6)]].map(String);
        expect(await each.list({ conversations: some }), place).toEqual(
          expected.filter((one) => some.includes(one.id)),
        );
        expect(await each.list({ waiting: true }), place).toEqual(expected.filter((one) => one.questions));
        const limit = 1 + pick(3);
        const pages = [];
        for (let page = await each.list({ limit }); page.length > 0; ) {
          pages.push(...page);
          page = await each.list({ limit, after: page.at(-1) });
        }
        expect(pages, place).toEqual(expected);
      }
    }
    for (const log of logs.values()) await log.close();
  }
});

function bodies(log: Log, pick: (below: number) => number, id: string, at: number): Event[] {
  const base = { epoch: log.epoch, at };
  if (log.seq === 0) return [{ type: "conversation.created", id, labels: { colour: "red" }, seq: 1, ...base }];
  const next = { seq: log.seq + 1, ...base };
  switch (pick(4)) {
    case 0:
      return [{ type: "title.changed", title: `Title ${at}`, ...next }];
    case 1:
      return [{ type: "run.paused", run: "r1", question: `q${at}`, reason: "The turn reached a limit.", ...next }];
    case 2:
      return [{ type: "run.continued", run: "r1", question: `q${at - pick(4)}`, allowed: true, ...next }];
    default:
      return events(log, 1 + pick(3)).map((event) => ({ ...event, at }));
  }
}

test("V2: files whose times lie in the future are read once, and are no news", async () => {
  const directory = await temporaryDirectory();
  await manyConversations(directory, 30);
  const folder = join(directory, "conversations");
  const tomorrow = new Date(Date.now() + 86_400_000);
  for (const name of [...readdirSync(folder), "."]) utimesSync(join(folder, name), tomorrow, tomorrow);
  const store = storeIn(directory);
  const heard = vi.fn();
  onTestFinished(store.watch?.(heard) ?? (() => {}));
  expect(await store.list()).toHaveLength(30);
  expect(await countAccesses(directory, () => store.list())).toEqual({ looks: 1, opened: 0 });
  await setTimeout(2_500);
  expect(heard).not.toHaveBeenCalled();
});

test("V2: a file that cannot be looked at hides no other, and a folder that cannot be is a store's error", async () => {
  const directory = await temporaryDirectory();
  await manyConversations(directory, 3);
  const folder = join(directory, "conversations");
  symlinkSync(`${numberedId(9)}.sqlite`, join(folder, `${numberedId(9)}.sqlite`));
  const store = storeIn(directory);
  for (let time = 0; time < 2; time++)
    expect((await store.list()).map(({ title }) => title)).toEqual([
      ...Array.from({ length: 3 }, () => "What is a banyan?"),
      "(unreadable)",
    ]);
  expect(await store.list({ conversations: [numberedId(9), numberedId(2)] })).toHaveLength(2);
  expect(await store.search("banyan")).toHaveLength(3);
  const broken = await temporaryDirectory();
  symlinkSync("conversations", join(broken, "conversations"));
  const none = storeIn(broken);
  await expect(none.list()).rejects.toMatchObject({ name: "StoreError", code: "unusable" });
  await expect(none.list({ conversations: [ID] })).rejects.toMatchObject({ name: "StoreError", code: "unusable" });
  await expect(none.search("banyan")).rejects.toMatchObject({ name: "StoreError", code: "unusable" });
});

test("V2: lists open no file again, though more conversations are active than files are open", async () => {
  const directory = await temporaryDirectory();
  const store = sqliteStore({ directory, openFiles: 2 });
  onTestFinished(() => store.close());
  const ids = Array.from({ length: 10 }, (_, index) => numberedId(index));
  for (const id of ids) {
    const log = await store.open(id, { create: true });
    await log.append(events(log, 1));
  }
  await setTimeout(SETTLED);
  const first = await countAccesses(directory, () => store.list());
  // Each file is opened once, and the catalogue for its entries.
  expect(first.opened).toBeLessThanOrEqual(ids.length + 2);
  await setTimeout(SETTLED);
  expect(await countAccesses(directory, () => store.list())).toMatchObject({ opened: 0 });
});

test("V2: a watcher hears of a conversation that another process took from this one; a closed store watches nothing", async () => {
  const directory = await temporaryDirectory();
  const [store, other] = [storeIn(directory), storeIn(directory)];
  const log = await store.open(ID, { create: true });
  await log.append(events(log, 1));
  const heard = new Set<string>();
  const hear = (ids: readonly string[]) => {
    for (const id of ids) heard.add(id);
  };
  onTestFinished(store.watch?.(hear) ?? (() => {}));
  expect(await store.list()).toHaveLength(1);
  const taken = await other.open(ID, { take: true });
  await taken.append(events(taken, 1));
  await expect.poll(() => [...heard]).toEqual([ID]);
  await other.close();
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => timers.mockRestore());
  other.watch?.(hear);
  expect(timers).not.toHaveBeenCalled();
});

test("V2: a watcher that never listed hears of later conversations, also if the same function watched twice", async () => {
  const directory = await temporaryDirectory();
  const [store, other] = [storeIn(directory), storeIn(directory)];
  const heard = vi.fn();
  const [first, second] = [store.watch?.(heard), store.watch?.(heard)];
  onTestFinished(() => second?.());
  first?.();
  await setTimeout(500);
  const log = await other.open(ID, { create: true });
  await log.append(events(log, 1));
  await expect.poll(() => heard.mock.calls).toEqual([[[ID]]]);
});

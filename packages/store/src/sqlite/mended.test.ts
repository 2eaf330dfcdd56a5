import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Event } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import { expect, test } from "vitest";
import { kill, nextLine, run } from "./child.fixture.ts";
import { sqliteStore } from "./index.ts";
import { events, fileOf, ID, OTHER, readAll, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

const LONG = process.env.BANYAN_LONG === "1";
const PAGE = 4096;
/** Milliseconds after which a flush checks the files again, plus a margin. */
const TICK = 30;

/** Returns the kept files next to a conversation's file. */
function kept(directory: string, kind: string): string[] {
  return readdirSync(join(directory, "conversations")).filter((name) => name.includes(`.${kind}-`));
}

test("F39: whichever page is overwritten, a conversation that opens goes on, and nothing readable is lost", {
  timeout: 600_000,
}, async () => {
  const from = await temporaryDirectory();
  const written = await write(storeIn(from), ID, 600);
  const pages = statSync(fileOf(from)).size / PAGE;
  const fills = LONG ? [0x00, 0xff, 0x55] : [0xff];
  let renewed = 0;
  for (const fill of fills) {
    // The first pages contain the roots of all tables. Test them all, the last pages, and a sample of the others.
    for (let page = 0; page < pages; page += LONG || page < 5 || page >= pages - 2 ? 1 : 12) {
      const directory = await temporaryDirectory();
      await write(storeIn(directory), OTHER, 1);
      const bytes = Buffer.from(readFileSync(fileOf(from)));
      bytes.fill(fill, page * PAGE, (page + 1) * PAGE);
      writeFileSync(fileOf(directory), bytes);
      const store = storeIn(directory);
      const where = `page ${page} filled with ${fill}`;
      let log: Log;
      try {
        log = await store.open(ID);
      } catch (error) {
        expect(error, where).toMatchObject({ name: "StoreError", code: "damaged" });
        expect(kept(directory, "damaged"), where).toEqual([]);
        expect(statSync(fileOf(directory)).size, where).toBe(bytes.length);
        continue;
      }
      const read = await readAll(log);
      const more = events(log, 50);
      for (const event of more) await log.append([event], { durable: event === more.at(-1) });
      expect(await readAll(log), where).toEqual([...read, ...more]);
      const said = log.damage?.filter((sentence) => sentence.includes("continues in a new file")) ?? [];
      const files = kept(directory, "damaged");
      expect(said.length, where).toBe(files.length);
      await log.close();
      const numbers = new Set(read.map(({ seq }) => seq));
      expect(read, where).toEqual(written.filter(({ seq }) => numbers.has(seq)));
      if (files.length === 0) continue;
      renewed++;
      expect(said[0]).toContain(files[0]);
      expect(readFileSync(join(directory, "conversations", files[0] as string)).length).toBe(bytes.length);
      const again = await store.open(ID);
      expect(await readAll(again)).toEqual([...read, ...more]);
      expect(again.damage, where).toEqual([]);
      expect(again.epoch).toBeGreaterThan(log.epoch);
      await again.close();
      const view = await store.view(ID);
      expect([view.seq, view.damage]).toEqual([again.seq, []]);
      expect((await store.search(`message ${again.seq}`)).map(({ conversation }) => conversation)).toEqual([ID]);
      await store.remove(ID);
      expect(readdirSync(join(directory, "conversations"))).toEqual([`${OTHER}.sqlite`]);
    }
  }
  expect(renewed).toBeGreaterThan(0);
});

test("F39: of two processes that open a damaged conversation at once, one mends it and the other is told who has it", async () => {
  const directory = await temporaryDirectory();
  await write(storeIn(directory), ID, 600);
  overwriteWriter(directory);
  const programs = Array.from({ length: 2 }, () =>
    run(
      directory,
      `const opened = await store.open(${JSON.stringify(ID)}).then((log) => log.damage.length, (error) => error.code);
      console.log(opened); process.stdin.resume();`,
      [],
      { create: true },
    ),
  );
  // The fixture opens the log itself: the second process ended with "locked".
  const ends = await Promise.all(programs.map(({ lines }) => nextLine(lines).catch(() => "refused")));
  expect(ends.toSorted()).toEqual(["locked", "refused"]);
  expect(kept(directory, "damaged")).toHaveLength(1);
});

/** Overwrites the page with the writer's record. */
function overwriteWriter(directory: string): void {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
  const database = new DatabaseSync(fileOf(directory));
  const root = Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'writer'").get()?.rootpage);
  database.close();
  const bytes = readFileSync(fileOf(directory));
  bytes.fill(0xff, (root - 1) * PAGE, root * PAGE);
  writeFileSync(fileOf(directory), bytes);
}

/** Creates the files of a killed process: `first` events in the file, `then` more only in the write-ahead log. */
async function killed(id: string, first: number, then: number, name: string): Promise<string> {
  const directory = await temporaryDirectory();
  if (first > 0) {
    const store = sqliteStore({ directory });
    const log = await store.open(id, { create: true });
    await log.append(eventsNamed(name, log, first), { durable: true });
    await store.close();
  }
  const store = sqliteStore({ directory });
  const log = await store.open(id, { create: true });
  for (const event of eventsNamed(name, log, then)) await log.append([event], { durable: true });
  // A copy of a living process's files equals the files after a kill.
  const copy = await temporaryDirectory();
  await write(storeIn(copy), "0000000000", 1);
  for (const suffix of ["", "-wal"]) copyFileSync(fileOf(directory, id) + suffix, fileOf(copy, id) + suffix);
  await store.close();
  return copy;
}

function eventsNamed(name: string, log: Log, count: number): Event[] {
  return events(log, count).map((event) => ({ ...event, message: `${name}${event.seq}` }) as Event);
}

test("F41: a write-ahead log of another conversation is put aside and named, and the file opens as it was", {
  timeout: 600_000,
}, async () => {
  const sizes = LONG ? [0, 1, 5, 20, 40, 100, 300, 700] : [0, 5, 40, 300];
  const foreign: string[] = [];
  for (const first of sizes) for (const then of [1, 30]) foreign.push(await killed(OTHER, first, then, "theirs"));
  for (const own of sizes.filter((size) => size > 0)) {
    for (const theirs of foreign) {
      const directory = await temporaryDirectory();
      const before = storeIn(directory);
      const log = await before.open(ID, { create: true });
      const written = eventsNamed("mine", log, own);
      await log.append(written, { durable: true });
      await log.close();
      copyFileSync(`${fileOf(theirs, OTHER)}-wal`, `${fileOf(directory)}-wal`);
      const store = storeIn(directory);
      const opened = await store.open(ID);
      expect(await readAll(opened)).toEqual(written);
      const [aside] = kept(directory, "foreign");
      expect(opened.damage).toEqual([expect.stringContaining(String(aside))]);
      const bytes = readFileSync(join(directory, "conversations", String(aside)));
      expect(bytes.equals(readFileSync(`${fileOf(theirs, OTHER)}-wal`))).toBe(true);
      await opened.append(eventsNamed("mine", opened, 1), { durable: true });
      await opened.close();
      expect((await store.open(ID)).damage).toEqual([]);
    }
  }
});

test("F41: a write-ahead log that a killed process left is its own, and all of it is there", async () => {
  for (const first of [0, 5, 300]) {
    const directory = await killed(ID, first, 30, "mine");
    const log = await storeIn(directory).open(ID);
    expect((await readAll(log)).map(({ seq }) => seq)).toEqual(Array.from({ length: first + 30 }, (_, at) => at + 1));
    expect(log.damage).toEqual([]);
    expect(kept(directory, "foreign")).toEqual([]);
  }
});

test("F41: beside a backup that was put back, the log of the newer file is refused", async () => {
  const directory = await killed(ID, 300, 30, "mine");
  const backup = await temporaryDirectory();
  const written = await write(storeIn(backup), ID, 20);
  copyFileSync(fileOf(backup), fileOf(directory));
  const log = await storeIn(directory).open(ID);
  expect(await readAll(log)).toEqual(written);
  expect(kept(directory, "foreign")).toHaveLength(1);
});

test.skipIf(process.platform === "win32").each([
  ["removed", (directory: string) => rmSync(join(directory, "conversations"), { recursive: true })],
  ["renamed", (directory: string) => renameSync(directory, `${directory}-elsewhere`)],
  ["without its write-ahead log", (directory: string) => rmSync(`${fileOf(directory)}-wal`)],
] as const)(
  "F32: when the data folder is %s, the next flush a tick later says so, and closing ends",
  async (_, change) => {
    const directory = join(await temporaryDirectory(), "data");
    const store = sqliteStore({ directory });
    const log = await store.open(ID, { create: true });
    await log.append(events(log, 1), { durable: true });
    change(directory);
    await sleep(TICK);
    expect(() => log.append(events(log, 1), { durable: true })).toThrow(
      expect.objectContaining({ code: "unusable", message: expect.stringContaining("was removed, moved or replaced") }),
    );
    expect(() => log.append([], { durable: true })).toThrow(expect.objectContaining({ code: "unusable" }));
    await store.close();
    if (!existsSync(directory)) expect(readdirSync(join(directory, "..")).length).toBeLessThanOrEqual(1);
  },
);

test.skipIf(process.platform === "win32")(
  "F32: a write-ahead log that is replaced after a while in which nothing changed is noticed",
  async () => {
    const directory = await temporaryDirectory();
    const log = await storeIn(directory).open(ID, { create: true });
    await log.append(events(log, 1), { durable: true });
    utimesSync(join(directory, "conversations"), 1, 1);
    for (let more = 0; more < 3; more++) {
      await sleep(TICK);
      await log.append(events(log, 1), { durable: true });
    }
    const wal = `${fileOf(directory)}-wal`;
    copyFileSync(wal, `${wal}.copy`);
    renameSync(`${wal}.copy`, wal);
    await sleep(TICK);
    expect(() => log.append(events(log, 1), { durable: true })).toThrow(
      expect.objectContaining({ code: "unusable", message: expect.stringContaining("was removed, moved or replaced") }),
    );
  },
);

test("F39: a damaged conversation that another process has open is not mended under it, and is once that is gone", async () => {
  const directory = await temporaryDirectory();
  await write(storeIn(directory), ID, 600);
  const { child, lines } = run(directory, `console.log("ready"); process.stdin.resume();`);
  await nextLine(lines);
  // Write in place: the other process has this file open.
  const bytes = Buffer.from(readFileSync(fileOf(directory)));
  const last = Math.floor(bytes.length / PAGE) - 1;
  bytes.fill(0xff, last * PAGE, (last + 1) * PAGE);
  writeFileSync(fileOf(directory), bytes);
  await expect(storeIn(directory).open(ID)).rejects.toMatchObject({ code: "locked" });
  expect(kept(directory, "damaged")).toEqual([]);
  expect(readFileSync(fileOf(directory)).equals(bytes)).toBe(true);
  await kill(child);
  const log = await storeIn(directory).open(ID);
  expect(kept(directory, "damaged")).toHaveLength(1);
  await log.close();
});

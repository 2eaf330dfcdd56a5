import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { Session, type StoreError } from "@banyan/core";
import type { Log } from "@banyan/core/stores";
import fc from "fast-check";
import { expect, test } from "vitest";
import { entriesIn, events, fileOf, ID, OTHER, readAll, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

async function change(directory: string, sql: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  using database = new DatabaseSync(fileOf(directory));
  database.exec(sql);
}

/** Returns the numbers of the damaged events that a log reports. */
function lostOf(log: Log): Set<number> {
  const lost = new Set<number>();
  for (const sentence of log.damage ?? []) {
    const [first, last] = Array.from(sentence.matchAll(/(?<=Events? | to )\d+/g), Number);
    for (let seq = first ?? 1; seq <= (last ?? first ?? 0); seq++) lost.add(seq);
  }
  return lost;
}

for (const [what, sql] of [
  ["is not JSON", "UPDATE events SET body = '{\"message' WHERE seq = 5"],
  ["was changed by a letter", "UPDATE events SET body = replace(body, 'message 5', 'massage 5') WHERE seq = 5"],
  ["has another time than was written", "UPDATE events SET at = at + 1 WHERE seq = 5"],
  ["has a number that no program wrote", "UPDATE events SET at = 9223372036854775807 WHERE seq = 5"],
  ["is gone", "DELETE FROM events WHERE seq = 5"],
] as const) {
  test(`F3 an event that ${what} is passed over, and said`, async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    const written = await write(store, ID, 10);
    await change(directory, sql);
    const log = await store.open(ID);
    expect(await readAll(log)).toEqual(written.filter(({ seq }) => seq !== 5));
    expect(log.damage).toEqual([`Event 5 of ${fileOf(directory)} is damaged and was skipped.`]);
    await log.append(events(log, 1));
    expect(await readAll(log)).toHaveLength(10);
    expect(log.damage).toHaveLength(1);
  });
}

test("F3 a session on a damaged log has what is intact, says what is lost, and goes on", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 10);
  await change(directory, "UPDATE events SET body = 'x' WHERE seq IN (5, 6)");
  await using session = await Session.open(store, ID);
  expect([...session.state.messages.keys()]).toEqual(["m1", "m2", "m3", "m4", "m7", "m8", "m9", "m10"]);
  expect(session.damage).toEqual([`Events 5 to 6 of ${fileOf(directory)} are damaged and were skipped.`]);
  await session.notes.rename("Trees");
  expect(session.state.title).toBe("Trees");
});

test("F3 a damaged last event keeps its number, and the log goes on behind it", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const written = await write(store, ID, 10);
  await change(directory, "UPDATE events SET body = '' WHERE seq = 10");
  const log = await store.open(ID);
  expect(log.seq).toBe(10);
  const more = events(log, 1);
  await log.append(more);
  expect(await readAll(log)).toEqual([...written.slice(0, 9), ...more]);
  expect(lostOf(log)).toEqual(new Set([10]));
});

test("F5 a damaged record of the writer hands out no epoch twice", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const log = await store.open(ID, { create: true });
  await log.append(events(log, 1));
  await log.close();
  await change(directory, "UPDATE writer SET epoch = 0");
  const again = await store.open(ID);
  expect(again.epoch).toBeGreaterThan(log.epoch);
  await again.append(events(again, 1));
});

test("F3 a row with a nonsensical number does not send the log astray", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const written = await write(store, ID, 10);
  await change(directory, "INSERT INTO events VALUES (4000000000000, 1, 1, 'x', '{}', 0)");
  const log = await store.open(ID);
  expect(log.seq).toBe(10);
  const more = events(log, 1);
  await log.append(more);
  expect(await readAll(log)).toEqual([...written, ...more]);
  expect(log.damage?.join()).toContain("The end of");
});

test("F3 F8 an overwritten page costs the events on it and no others", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const written = await write(store, ID, 2000);
  const others = await write(store, OTHER, 10);
  overwrite(fileOf(directory), 4096 * 40, Buffer.alloc(4096, 0xff));
  const log = await store.open(ID);
  const read = await readAll(log);
  const lost = lostOf(log);
  expect(lost.size).toBeGreaterThan(0);
  expect(lost.size).toBeLessThan(100);
  expect(read).toEqual(written.filter(({ seq }) => !lost.has(seq)));
  expect(log.seq).toBe(2000);
  await log.append(events(log, 1));
  expect(await readAll(await store.open(OTHER))).toEqual(others);
  expect((await store.list()).map(({ id }) => id).sort()).toEqual([ID, OTHER]);
});

test("F3 F39 of a file whose end was cut off, what is left is read, the loss is said, and it goes on", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const written = await write(store, ID, 2000);
  const file = fileOf(directory);
  truncateSync(file, 4096 * Math.floor(statSync(file).size / 4096 / 2));
  const log = await store.open(ID);
  const read = await readAll(log);
  expect(read.length).toBeGreaterThan(500);
  expect(read).toEqual(written.slice(0, read.length));
  expect(log.damage?.join()).toContain("The end of");
  const more = events(log, 1);
  await log.append(more);
  expect(await readAll(log)).toEqual([...read, ...more]);
});

test("F3 whatever byte changes, an event is read as it was written or said to be lost", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const written = await write(store, ID, 300);
  const file = fileOf(directory);
  const intact = readFileSync(file);
  const position = fc.oneof(fc.integer({ min: 0, max: intact.length - 1 }), fc.integer({ min: 0, max: 8191 }));
  await fc.assert(
    fc.asyncProperty(position, fc.integer({ min: 1, max: 255 }), async (at, bits) => {
      const flipped = Buffer.from(intact);
      flipped[at] = (flipped[at] ?? 0) ^ bits;
      for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
      writeFileSync(file, flipped);
      let log: Log;
      try {
        log = await store.open(ID);
      } catch (error) {
        // A completely unreadable file is refused.
        expect((error as StoreError).name).toBe("StoreError");
        expect((error as StoreError).message).toContain(file);
        return;
      }
      const read = await readAll(log);
      const lost = lostOf(log);
      const endSaid = log.damage?.some((sentence) => sentence.startsWith("The end of"));
      const due = written.filter(({ seq }) => !lost.has(seq) && !(endSaid && seq > log.seq));
      expect(read).toEqual(due);
      await log.close();
    }),
    { numRuns: 150 },
  );
});

test("F8 a file that is no database is refused as damaged, is listed, and hides no other", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 10);
  await write(store, OTHER, 10);
  overwrite(fileOf(directory), 0, Buffer.from("this was the header of a database file"));
  await expect(store.open(ID)).rejects.toMatchObject({
    code: "damaged",
    message: expect.stringContaining(fileOf(directory)),
  });
  const titles = Object.fromEntries((await store.list()).map(({ id, title }) => [id, title]));
  expect(titles[ID]).toBe("(unreadable)");
  expect(titles[OTHER]).toContain("message 1");
});

test("F8 an unreadable file keeps the title that the catalogue knew", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 10);
  const before = await store.list();
  overwrite(fileOf(directory), 0, Buffer.alloc(4096));
  expect(await store.list()).toEqual(before);
});

test("a file that was emptied is refused as damaged, not taken for a new conversation", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 10);
  truncateSync(fileOf(directory));
  await expect(store.open(ID)).rejects.toMatchObject({ code: "damaged" });
});

for (const [what, damage] of [
  ["is gone", (file: string) => rmSync(file)],
  ["is no database", (file: string) => writeFileSync(file, "not a database at all, for sure")],
  ["is empty", (file: string) => truncateSync(file)],
  ["is cut", (file: string) => truncateSync(file, 5000)],
  ["has an overwritten page", (file: string) => overwrite(file, 4096, Buffer.alloc(4096, 0xff))],
] as const) {
  test(`F8 a catalogue that ${what} is rebuilt from the files`, async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await write(store, ID, 3);
    await write(store, OTHER, 5);
    const before = await store.list();
    expect(before).toHaveLength(2);
    damage(join(directory, "catalogue.sqlite"));
    expect(await store.list()).toEqual(before);
    expect(await storeIn(directory).list()).toEqual(before);
    expect(await entriesIn(directory)).toBe(2);
  });
}

test("F7 a list needs no catalogue: where none can be written, it is right all the same", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 3);
  // A directory in the catalogue's place: no user, not even root, can write the directory as a file.
  mkdirSync(join(directory, "catalogue.sqlite"));
  expect((await store.list()).map(({ id }) => id)).toEqual([ID]);
});

function overwrite(file: string, at: number, bytes: Buffer): void {
  const descriptor = openSync(file, "r+");
  try {
    writeSync(descriptor, bytes, 0, bytes.length, at);
  } finally {
    closeSync(descriptor);
  }
}

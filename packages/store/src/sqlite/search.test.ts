import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Event } from "@banyan/core";
import { expect, test } from "vitest";
import { kill, nextLine, run } from "./child.fixture.ts";
import { events, fileOf, ID, OTHER, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

function catalogueOf(directory: string): string {
  return join(directory, "catalogue.sqlite");
}

async function indexed(directory: string): Promise<unknown[]> {
  const { DatabaseSync } = await import("node:sqlite");
  using database = new DatabaseSync(catalogueOf(directory), { readOnly: true });
  return database.prepare("SELECT conversation, seq FROM indexed ORDER BY conversation").all();
}

test("B55 a search sees what another process is writing", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const { child, lines } = run(
    directory,
    `let seq = 0;
    const say = (text) => {
      const message = { type: "message.added", message: "m" + ++seq, parentId: null, role: "user" };
      log.append([{ ...message, parts: [{ type: "text", text }], seq, epoch: log.epoch, at: seq }]);
      console.log(seq);
    };
    say("a banyan");
    process.stdin.on("data", () => say("another banyan"));`,
  );
  await nextLine(lines);
  expect(await store.search("banyan")).toHaveLength(1);
  child.stdin?.write("\n");
  await nextLine(lines);
  expect(await store.search("banyan")).toHaveLength(2);
  await kill(child);
  expect(await store.search("banyan")).toHaveLength(2);
});

test("B55 the index reads of a file what is new in it, and nothing twice", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const log = await store.open(ID, { create: true });
  await log.append(events(log, 1200));
  await write(store, OTHER, 5);
  expect(await store.search("message 1100")).toHaveLength(1);
  expect(await indexed(directory)).toMatchObject([{ seq: 1200 }, { seq: 5 }]);
  // Indexed events are not read again.
  const { DatabaseSync } = await import("node:sqlite");
  const catalogue = new DatabaseSync(catalogueOf(directory));
  catalogue.exec("DELETE FROM messages WHERE message = 'm7'");
  catalogue.close();
  await log.append(events(log, 3));
  expect((await store.search("message 1203")).map(({ message }) => message)).toEqual(["m1203"]);
  expect(await store.search("message 7", { limit: 2000 })).not.toContainEqual(
    expect.objectContaining({ message: "m7" }),
  );
});

test("B55 searches at the same time disturb neither each other nor lists", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const other = storeIn(directory);
  await write(store, ID, 1_200);
  await write(store, OTHER, 1_200);
  const searches = [store, other, store, other].map((one) => one.search("message", { limit: 5000 }));
  await store.list();
  for (const hits of await Promise.all(searches)) expect(hits).toHaveLength(2_400);
  expect(await store.search("message", { limit: 5000 })).toHaveLength(2_400);
});

test("B55 a file that was replaced by an older one is read anew", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 3);
  await cp(fileOf(directory), join(directory, "backup"));
  const log = await store.open(ID);
  await log.append(events(log, 3));
  await log.close();
  expect(await store.search("message")).toHaveLength(6);
  await rm(fileOf(directory));
  await cp(join(directory, "backup"), fileOf(directory));
  expect(await store.search("message")).toHaveLength(3);
  const again = await store.open(ID);
  const renewed = [{ type: "text", text: "written anew" }] as const;
  await again.append(events(again, 4).map((event) => ({ ...event, parts: renewed }) as Event));
  expect((await store.search("anew")).map(({ message }) => message)).toEqual(["m7", "m6", "m5", "m4"]);
  expect(await store.search("message")).toHaveLength(3);
});

test("B55 what is found follows files that come and go", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 2);
  await write(store, OTHER, 3);
  expect(await store.search("message")).toHaveLength(5);
  rmSync(fileOf(directory, OTHER));
  expect(await store.search("message")).toHaveLength(2);
  expect(await indexed(directory)).toHaveLength(1);
});

test("F8 B60 a file that cannot be read hides nothing of the others", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 2);
  await write(store, OTHER, 3);
  truncateSync(fileOf(directory, ID), 100);
  expect(await store.search("message")).toHaveLength(3);
  await write(store, "01k00000000000000000000003", 1);
  expect(await store.search("message")).toHaveLength(4);
});

for (const [what, damage] of [
  ["is gone", (file: string) => rmSync(file)],
  ["is no database", (file: string) => writeFileSync(file, "not a database at all, for sure")],
  ["is cut", (file: string) => truncateSync(file, statSync(file).size - 4096)],
  ["is of zeros but for its header", (file: string) => writeFileSync(file, zerosBehindHeader(file))],
] as const) {
  test(`F8 B55 a catalogue that ${what} is made anew`, async () => {
    const directory = await temporaryDirectory();
    const store = storeIn(directory);
    await write(store, ID, 30);
    const before = await store.search("message 7");
    expect(before).toHaveLength(1);
    damage(catalogueOf(directory));
    expect(await store.search("message 7")).toEqual(before);
    expect(await store.search("message 7")).toEqual(before);
    expect(await indexed(directory)).toMatchObject([{ seq: 30 }]);
  });
}

function zerosBehindHeader(file: string): Buffer {
  const bytes = readFileSync(file);
  return bytes.fill(0, 4096);
}

test("F7 B55 a search needs no catalogue: where none can be written, it finds all the same", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 3);
  mkdirSync(catalogueOf(directory));
  expect(await store.search("message")).toHaveLength(3);
});

test("a search where there are no conversations leaves no trace on the disk", async () => {
  const directory = join(await temporaryDirectory(), "data");
  expect(await storeIn(directory).search("banyan")).toEqual([]);
  expect(statSync(directory, { throwIfNoEntry: false })).toBeUndefined();
});

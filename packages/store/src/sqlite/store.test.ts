import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeConformance } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { sqliteStore } from "./index.ts";
import { entriesIn, events, fileOf, ID, OTHER, readAll, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

describe("the SQLite store keeps the contract of stores", () => {
  const make = async () => {
    const directory = await mkdtemp(join(tmpdir(), "banyan-store-"));
    return {
      store: sqliteStore({ directory }),
      reopen: async () => sqliteStore({ directory }),
      cleanUp: () => rm(directory, { recursive: true, force: true }),
    };
  };
  for (const { name, run } of storeConformance(make)) test(name, run);
});

test("making a store, listing nothing and missing a conversation leave no trace on the disk", async () => {
  const directory = join(await temporaryDirectory(), "data");
  const store = storeIn(directory);
  expect(await store.list()).toEqual([]);
  await expect(store.open(ID)).rejects.toMatchObject({ code: "not-found" });
  await store.close();
  expect(existsSync(directory)).toBe(false);
});

test("S13 files and directories are readable by their owner only, those of SQLite too", async () => {
  const directory = join(await temporaryDirectory(), "data");
  const store = storeIn(directory);
  const log = await store.open(ID, { create: true });
  await log.append(events(log, 1));
  await store.list();
  const mode = (...path: string[]) => (statSync(join(directory, ...path)).mode & 0o777).toString(8);
  expect(mode()).toBe("700");
  expect(mode("conversations")).toBe("700");
  expect(mode("catalogue.sqlite")).toBe("600");
  const files = readdirSync(join(directory, "conversations")).sort();
  expect(files).toEqual([`${ID}.sqlite`, `${ID}.sqlite-shm`, `${ID}.sqlite-wal`]);
  for (const file of files) expect(mode("conversations", file)).toBe("600");
});

test("a closed conversation is one file: a copy of it is a backup, removing it frees the disk", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 10);
  expect(await store.list()).toHaveLength(1);
  expect(await store.search("message")).toHaveLength(10);
  expect(readdirSync(join(directory, "conversations"))).toEqual([`${ID}.sqlite`]);
});

test("an append is done at once, without a promise", async () => {
  const log = await storeIn(await temporaryDirectory()).open(ID, { create: true });
  expect(log.append(events(log, 1))).toBeUndefined();
  expect(log.append(events(log, 1), { durable: true })).toBeUndefined();
  expect(log.seq).toBe(2);
});

test("S8 a text that can be no id is not found, and nothing is made", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  for (const id of [".", "..", "", "a".repeat(129), `${ID}\0`, `${ID}\n`, "\ud800"]) {
    await expect(store.open(id, { create: true })).rejects.toMatchObject({ code: "not-found" });
  }
  expect(readdirSync(directory)).toEqual([]);
});

test("S8 an id that would be a path leads to no other directory", async () => {
  const above = await temporaryDirectory();
  const store = storeIn(join(above, "store"));
  for (const id of ["../../x", "..\\..\\x", "/tmp/x", "C:\\x", "a/b", "~/x", "%2e%2e%2fx"]) {
    const log = await store.open(id, { create: true });
    await log.append(events(log, 1));
    await log.rights?.write({ rules: [], calls: {} });
    await log.close();
  }
  expect(readdirSync(above)).toEqual(["store"]);
  for (const folder of ["conversations", "rights"])
    for (const name of readdirSync(join(above, "store", folder)))
      expect(name).toMatch(/^(?:_[0-9a-z_-]+\.(?:sqlite|json)|earlier\.json|begun\.txt)$/);
});

test("W80 a file whose name is a digest is listed by what was known of it when it cannot be read, and hides no other", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const long = "🌳".repeat(128);
  await write(store, ID, 1);
  const log = await store.open(long, { create: true });
  const created = { type: "conversation.created", id: long, labels: {}, seq: 1, epoch: log.epoch, at: 1 } as const;
  await log.append([created]);
  await log.close();
  const listed = async () => (await store.list()).map(({ id }) => id).sort();
  expect(await listed()).toEqual([ID, long]);
  const [file = ""] = readdirSync(join(directory, "conversations")).filter((name) => name.startsWith("sha256-"));
  writeFileSync(join(directory, "conversations", file), "no database".repeat(1_000));
  expect(await listed()).toEqual([ID, long]);
  await rm(join(directory, "catalogue.sqlite"));
  expect((await storeIn(directory).list()).map(({ id }) => id)).toEqual([ID]);
});

test("a directory that cannot be made is one clear sentence", async () => {
  const blocked = join(await temporaryDirectory(), "file");
  writeFileSync(blocked, "");
  const store = storeIn(join(blocked, "data"));
  await expect(store.open(ID, { create: true })).rejects.toMatchObject({
    code: "unusable",
    message: expect.stringContaining(blocked),
  });
});

// Root may write anywhere.
test.runIf(process.getuid?.() !== 0)("a directory that may not be written to is one clear sentence", async () => {
  const directory = await temporaryDirectory();
  await chmod(directory, 0o500);
  await expect(storeIn(directory).open(ID, { create: true })).rejects.toMatchObject({
    code: "unusable",
    message: expect.stringContaining(directory),
  });
});

test("a conversation of a newer version is refused and left as it is", async () => {
  const { DatabaseSync } = await import("node:sqlite");
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const written = await write(store, ID, 3);
  const setVersion = (version: number) => {
    using database = new DatabaseSync(fileOf(directory));
    database.exec(`PRAGMA user_version = ${version}`);
  };
  setVersion(2);
  await expect(store.open(ID)).rejects.toMatchObject({ code: "unusable", message: expect.stringContaining("newer") });
  setVersion(1);
  expect(await readAll(await store.open(ID))).toEqual(written);
});

test("F5 a conversation that something else holds locked is refused as locked", async () => {
  const { DatabaseSync } = await import("node:sqlite");
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const log = await store.open(ID, { create: true });
  const more = events(log, 1);
  using other = new DatabaseSync(fileOf(directory));
  other.exec("BEGIN IMMEDIATE");
  expect(() => log.append(more)).toThrow(expect.objectContaining({ code: "locked" }));
  other.exec("ROLLBACK");
  await log.append(more);
  expect(await readAll(log)).toEqual(more);
});

test("a list follows files that come and go without the catalogue", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 1);
  expect((await store.list()).map(({ id }) => id)).toEqual([ID]);
  await write(store, OTHER, 2);
  await rm(fileOf(directory, ID));
  expect((await storeIn(directory).list()).map(({ id }) => id)).toEqual([OTHER]);
  expect(await entriesIn(directory)).toBe(1);
});

test("F10 a write-ahead log does not grow with the conversation", async () => {
  const directory = await temporaryDirectory();
  const log = await storeIn(directory).open(ID, { create: true });
  for (let appended = 0; appended < 600; appended++) await log.append(events(log, 100));
  expect(statSync(fileOf(directory)).size).toBeGreaterThan(8_000_000);
  expect(statSync(`${fileOf(directory)}-wal`).size).toBeLessThan(5_000_000);
});

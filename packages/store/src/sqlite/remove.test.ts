import { existsSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "@banyan/core";
import { expect, test } from "vitest";
import { kill, nextLine, run } from "./child.fixture.ts";
import { fileOf, ID, OTHER, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

test("removing a conversation frees its disk, and leaves no word of it in the catalogue", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, OTHER, 500);
  const log = await store.open(ID, { create: true });
  const parts = [{ type: "text", text: "unmistakable" }] as const;
  const secret: Event = {
    type: "message.added",
    message: "m1",
    parentId: null,
    role: "user",
    parts,
    seq: 1,
    epoch: 1,
    at: 1,
  };
  await log.append([secret]);
  await log.close();
  expect(await store.search("unmistakable")).toHaveLength(1);
  const isInCatalogue = (text: string) => readFileSync(join(directory, "catalogue.sqlite")).includes(text);
  expect(isInCatalogue("unmistakable")).toBe(true);
  await store.remove(ID);
  expect(readdirSync(join(directory, "conversations"))).toEqual([`${OTHER}.sqlite`]);
  expect(isInCatalogue("unmistakable")).toBe(false);
  expect(isInCatalogue(ID)).toBe(false);
  expect(await store.search("message 499")).toHaveLength(1);
});

test("F5 a conversation that is open in another process is not removed", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  const { child, lines } = run(directory, `log.append([event(1)]); console.log("ready"); process.stdin.resume();`);
  await nextLine(lines);
  await expect(store.remove(ID)).rejects.toMatchObject({
    code: "locked",
    message: expect.stringContaining(`process ${child.pid}`),
  });
  expect(existsSync(fileOf(directory))).toBe(true);
  await kill(child);
  await store.remove(ID);
  expect(readdirSync(join(directory, "conversations"))).toEqual([]);
});

test("F8 a conversation that cannot be read can be removed", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 10);
  truncateSync(fileOf(directory), 50);
  await expect(store.open(ID)).rejects.toMatchObject({ code: "damaged" });
  await store.remove(ID);
  expect(await store.list()).toEqual([]);
});

test("S8 nothing outside the directory can be removed", async () => {
  const store = storeIn(await temporaryDirectory());
  for (const id of ["../../etc/passwd", "..", "", `${ID}/../${ID}`]) {
    await expect(store.remove(id)).rejects.toMatchObject({ code: "not-found" });
  }
});

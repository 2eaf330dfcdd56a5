import { appendFileSync, copyFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noRights } from "@banyan/core/stores";
import { expect, test } from "vitest";
import { fileOf, ID, OTHER, storeIn, temporaryDirectory, write } from "./store.fixture.ts";

const RULES = { rules: ["shell(*)"], calls: {} };

/** Creates a directory with a conversation that has a permission. */
async function allowed(): Promise<string> {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 3);
  const log = await store.open(ID);
  await log.rights?.write(RULES);
  await log.close();
  await store.close();
  return directory;
}

async function rightsOf(directory: string, id: string) {
  const store = storeIn(directory);
  const log = await store.open(id);
  const rights = await log.rights?.read();
  await log.close();
  await store.close();
  return rights;
}

test("S17 rights stand in a file of their own, for its owner only, and none in the conversation's", async () => {
  const directory = await allowed();
  const file = join(directory, "rights", `${ID}.json`);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(RULES);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  expect((statSync(join(directory, "rights")).mode & 0o777).toString(8)).toBe("700");
  expect(readFileSync(fileOf(directory)).includes("shell(*)")).toBe(false);
  expect(readdirSync(directory).filter((name) => name.startsWith("rights"))).toEqual(["rights"]);
});

test("S17 a conversation's file that is copied brings no rights, here or to another directory, and is known as foreign", async () => {
  const [from, to] = [await allowed(), await allowed()];
  copyFileSync(fileOf(from), fileOf(to, OTHER));
  expect(await rightsOf(to, OTHER)).toBeUndefined();
  expect(await rightsOf(to, ID)).toEqual(RULES);
  const empty = await temporaryDirectory();
  const store = storeIn(empty);
  await write(store, OTHER, 1);
  await store.close();
  copyFileSync(fileOf(from), fileOf(empty, ID));
  expect(await rightsOf(empty, ID)).toBeUndefined();
});

test("S17 a removed conversation's file that is put back is foreign, and one that is begun again by that name is not", async () => {
  const directory = await allowed();
  copyFileSync(fileOf(directory), join(directory, "kept"));
  const store = storeIn(directory);
  await store.remove(ID);
  copyFileSync(join(directory, "kept"), fileOf(directory));
  expect(await rightsOf(directory, ID)).toBeUndefined();
  await store.remove(ID);
  await write(store, ID, 1);
  await store.close();
  expect(await rightsOf(directory, ID)).toEqual(noRights);
});

test("S17 a crash in the middle of noting a conversation takes nothing from those before and after it", async () => {
  const directory = await temporaryDirectory();
  const store = storeIn(directory);
  await write(store, ID, 1);
  appendFileSync(join(directory, "rights", "begun.txt"), "\nabc");
  await write(store, OTHER, 1);
  await store.close();
  expect(await rightsOf(directory, ID)).toEqual(noRights);
  expect(await rightsOf(directory, OTHER)).toEqual(noRights);
  expect(readdirSync(join(directory, "rights")).sort()).toEqual(["begun.txt", "earlier.json"]);
});

test("S17 conversations from before rights were kept are this store's own, with nothing allowed", async () => {
  const directory = await allowed();
  rmSync(join(directory, "rights"), { recursive: true });
  expect(await rightsOf(directory, ID)).toEqual(noRights);
});

test.each(["", "{", "null", "7", '{"rules":[7],"calls":["x"]}', '{"rules":{"0":"shell"},"calls":{"c":7}}'])(
  "S17 rights that are damaged allow nothing: %j",
  async (text) => {
    const directory = await allowed();
    writeFileSync(join(directory, "rights", `${ID}.json`), text);
    expect(await rightsOf(directory, ID)).toEqual(noRights);
  },
);

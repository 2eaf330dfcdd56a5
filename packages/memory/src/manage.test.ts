import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { embedder, LARGE, memoryIn, padding, recalled, said, temporaryFile } from "./memory.fixture.ts";

/** The content of a memory's file and its companion files. */
function bytesOf(file: string): string {
  const directory = dirname(file);
  return readdirSync(directory)
    .map((name) => readFileSync(join(directory, name), "latin1"))
    .join("\n");
}

test("B45: entries are listed page by page, the newest first", async () => {
  const memory = await memoryIn();
  await memory.remember(padding(5));
  const first = await memory.list({ limit: 2 });
  const second = await memory.list({ limit: 2, after: first.at(-1)?.id ?? 0 });
  const third = await memory.list({ limit: 2, after: second.at(-1)?.id ?? 0 });
  expect([first, second, third].map((page) => page.map(({ id }) => id))).toEqual([[5, 4], [3, 2], [1]]);
  expect(await memory.list({ after: 1 })).toEqual([]);
  expect(await memory.list({ limit: 0 })).toEqual([]);
});

for (const [size, fill] of [
  ["small", 0],
  ["large", LARGE],
] as const) {
  test(`B45: a search in a ${size} memory finds entries with all words, in any inflection`, async () => {
    const memory = await memoryIn();
    await memory.remember(padding(fill));
    await memory.remember([
      said("I planted an oak in May."),
      said("Oaks grow slowly there.", "b", { kind: "summary" }),
    ]);
    const texts = async (query: string) => (await memory.search(query)).map(({ text }) => text);
    expect(await texts("oaks planting")).toEqual(["I planted an oak in May."]);
    expect((await texts("the oak")).length).toBe(0);
    expect(await texts("oak")).toHaveLength(2);
    expect(await memory.search("oak", { limit: 1 })).toHaveLength(1);
    expect(await texts("elm")).toEqual([]);
    expect(await texts('" OR *')).toEqual([]);
    const reason = new Error("nobody waits");
    await expect(memory.search("oak", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
}

test("B45: an added fact has its source, and is returned as stored", async () => {
  const memory = await memoryIn({ directory: "/home/me" });
  const before = Date.now();
  const entry = await memory.add({ text: " Likes tea. ", conversation: "a", message: "m1", directory: "/there" });
  expect(entry).toMatchObject({ id: 1, kind: "fact", text: "Likes tea.", conversation: "a", message: "m1" });
  expect(entry.directory).toBe("/there");
  expect(entry.at).toBeGreaterThanOrEqual(before);
  expect(await memory.list()).toEqual([entry]);
  expect(await memory.add({ text: "Likes tea." })).toMatchObject({ id: 1, directory: "/home/me" });
  expect(await memory.add({ text: "Likes tea." })).not.toHaveProperty("conversation");
});

test("B45: an empty or too long fact is refused with the reason", async () => {
  const memory = await memoryIn();
  await expect(memory.add({ text: " \n" })).rejects.toMatchObject({ code: "unfit" });
  await expect(memory.add({ text: "x".repeat(2001) })).rejects.toMatchObject({
    code: "unfit",
    message: "A fact has at most 2,000 characters, and this fact has 2001; shorten the fact.",
  });
  expect(await memory.add({ text: "x".repeat(2000) })).toMatchObject({ id: 1 });
});

test("B45: a removed entry disappears from searches and from all files", async () => {
  const file = await temporaryFile();
  const memory = await memoryIn({ file, embed: embedder([["unicorn"]]) });
  await memory.remember([said("The unicornish zebra grazes.", "a"), said("The zebra sleeps now.", "a")]);
  expect(bytesOf(file)).toContain("unicornish");
  expect(await memory.remove(1)).toBe(true);
  expect(await memory.remove(1)).toBe(false);
  expect(await recalled(memory, "unicornish")).toEqual([]);
  expect((await memory.list()).map(({ id }) => id)).toEqual([2]);
  expect(bytesOf(file)).not.toContain("unicorn");
  // Ids are not reused.
  await memory.remove(2);
  expect((await memory.add({ text: "New." })).id).toBe(3);
});

test("B45: removing a conversation removes the entries that come from it alone", async () => {
  const memory = await memoryIn();
  await memory.remember([
    said("Only said in a.", "a"),
    said("It was said in both.", "a"),
    said("It was said in both.", "b"),
  ]);
  expect(await memory.clear({ conversation: "a" })).toBe(1);
  expect(await memory.list()).toMatchObject([{ text: "It was said in both.", conversation: "b" }]);
  expect(await memory.clear({ conversation: "nowhere" })).toBe(0);
});

test("B45: clearing a memory removes all entries and frees the disk", async () => {
  const file = await temporaryFile();
  const memory = await memoryIn({ file });
  await memory.remember(padding(LARGE));
  await memory.setOn("a", false);
  expect(await memory.clear()).toBe(LARGE);
  expect(await memory.list()).toEqual([]);
  expect(await recalled(memory, "filler")).toEqual([]);
  expect(bytesOf(file)).not.toContain("iller");
  expect(readFileSync(file).length).toBeLessThan(120_000);
  expect(await memory.isOn("a")).toBe(false);
  await memory.remember(padding(2));
  expect(await recalled(memory, "filler")).toHaveLength(2);
});

test("a memory without entries answers all calls, and leaves no file on the disk", async () => {
  const file = await temporaryFile();
  const memory = await memoryIn({ file });
  expect(await recalled(memory, "anything")).toEqual([]);
  expect(await memory.list()).toEqual([]);
  expect(await memory.search("anything")).toEqual([]);
  expect(await memory.summaries("/here", 5)).toEqual([]);
  expect(await memory.isOn("a")).toBe(true);
  expect(await memory.remove(1)).toBe(false);
  expect(await memory.clear()).toBe(0);
  await memory.remember([said("Yes.")]);
  expect(readdirSync(dirname(file))).toEqual([]);
});

import { expect, test } from "vitest";
import { sqliteMemory } from "./index.ts";
import { embedder, LARGE, memoryIn, padding, recalled, said, temporaryFile } from "./memory.fixture.ts";

const MEANINGS = [
  ["car", "automobile", "vehicle"],
  ["tea", "beverage", "drink"],
];

/** Remembers texts with an embedder. Returns the file when all vectors exist. */
async function remembered(texts: readonly string[], model = embedder(MEANINGS)): Promise<string> {
  const file = await temporaryFile();
  await using memory = sqliteMemory({ file, embed: model });
  await memory.remember(texts.map((text) => said(text)));
  return file;
}

for (const [size, fill] of [
  ["small", 0],
  ["large", LARGE],
] as const) {
  test(`B45: a ${size} memory with an embedder recalls entries of similar meaning, whatever their words`, async () => {
    const file = await remembered(["My automobile is red.", "I like green tea.", "It rains in Delft."]);
    const memory = await memoryIn({ file, embed: embedder(MEANINGS) });
    await memory.remember(padding(fill));
    expect(await recalled(memory, "Which car is yours?")).toEqual(["My automobile is red."]);
    expect(await recalled(memory, "Which beverage?", { conversation: "earlier" })).toEqual([]);
    await memory.setOn("earlier", false);
    expect(await recalled(memory, "Which beverage?")).toEqual([]);
  });
}

test("B45: an entry that matches by words and by meaning precedes entries that match by one of the two", async () => {
  const file = await remembered(["My automobile is red.", "Crimson is a kind of red.", "The car park is full."]);
  const memory = await memoryIn({ file, embed: embedder(MEANINGS) });
  const [first, ...others] = await recalled(memory, "red vehicle");
  expect(first).toBe("My automobile is red.");
  expect(others.toSorted()).toEqual(["Crimson is a kind of red.", "The car park is full."]);
});

test("B45: a setting defines the least similarity of recalled entries", async () => {
  const texts = ["A car, some tea, all day.", "An automobile it is."];
  const file = await remembered(texts);
  const strict = await memoryIn({ file, embed: embedder(MEANINGS), similarity: 0.9 });
  expect(await recalled(strict, "vehicle")).toEqual([texts[1]]);
  const lax = await memoryIn({ file, embed: embedder(MEANINGS), similarity: 0.5 });
  expect(await recalled(lax, "vehicle")).toEqual([texts[1], texts[0]]);
});

test("B45: an embedder gets each text once, in batches of its limit, also older texts of the file", async () => {
  const file = await temporaryFile();
  const before = sqliteMemory({ file });
  await before.remember(Array.from({ length: 12 }, (_, index) => said(`My automobile number ${index} is old.`)));
  await before.close();
  const model = embedder(MEANINGS);
  const memory = sqliteMemory({ file, embed: model });
  await memory.remember([said("My automobile number 12 is new.")]);
  await memory.close();
  const again = await memoryIn({ file, embed: model });
  await again.add({ text: "Tea is served." });
  await again.close();
  expect(model.calls.map((texts) => texts.length)).toEqual([5, 5, 3, 1]);
  expect(new Set(model.calls.flat()).size).toBe(14);
});

test("B45: memory ignores the vectors of another model", async () => {
  const file = await remembered(["My automobile is red."]);
  const other = await memoryIn({ file, embed: embedder([["unlike"]], { modelId: "other" }) });
  expect(await recalled(other, "unlike car")).toEqual([]);
  // The same name, but other vectors.
  const changed = await memoryIn({ file, embed: embedder([["car", "automobile"]]) });
  expect(await recalled(changed, "Which car is yours?")).toEqual([]);
});

for (const [what, answer, why] of [
  ["fails", () => Promise.reject(new Error("no credit left")), "no credit left"],
  ["answers with too few vectors", async () => [], "it did not answer with a vector for each text"],
  ["answers with an empty vector", async () => [[]], "it answered with a vector that has no direction"],
  ["answers with no numbers", async () => [[Number.NaN]], "it answered with a vector that has no direction"],
  ["does not answer", () => new Promise<never>(() => {}), "it did not answer within 2000 ms"],
] as const) {
  test(`B45: if an embedder ${what}, recall uses only words and sends a notice`, async () => {
    const file = await remembered(["My automobile is red."]);
    const notices: string[] = [];
    const memory = await memoryIn({ file, embed: embedder(MEANINGS, { answer }) });
    const notice = (reason: string) => notices.push(reason);
    expect(await recalled(memory, "Is the automobile a car?", { notice })).toEqual(["My automobile is red."]);
    expect(notices).toEqual([
      `The embedding model scripted/meanings cannot be used (${why}), so memory finds entries only by their words. Check the settings of the model.`,
    ]);
  });
}

test("B45: remembering succeeds although the embedder fails, and the next recall reports the failure", async () => {
  const file = await temporaryFile();
  const entry = "My automobile is red.";
  let failed = false;
  const answer = async ({ values }: { values: string[] }) => {
    if (!failed && values.includes(entry)) {
      failed = true;
      throw new Error("no credit left");
    }
    return values.map(() => [1]);
  };
  const memory = await memoryIn({ file, embed: embedder([], { answer }) });
  await memory.remember([said(entry)]);
  const notices: string[] = [];
  const notice = (reason: string) => notices.push(reason);
  const told = async () => {
    expect(await recalled(memory, "automobile", { notice })).toEqual(["My automobile is red."]);
    return notices;
  };
  await expect.poll(told).toEqual([expect.stringContaining("no credit left")]);
  expect(await recalled(memory, "automobile", { notice })).toEqual(["My automobile is red."]);
  expect(notices).toHaveLength(1);
});

test("B45: memory reports a failing embedder once, and again if it fails after a success", async () => {
  const file = await remembered(["My automobile is red."]);
  let isDown = true;
  const answer = async ({ values }: { values: string[] }) => {
    if (isDown) throw new Error("no credit left");
    return values.map(() => [1]);
  };
  const memory = await memoryIn({ file, embed: embedder([], { answer }) });
  const notices: string[] = [];
  const ask = () => recalled(memory, "automobile", { notice: (reason) => notices.push(reason) });
  await ask();
  await memory.remember([said("It rains in Delft.")]);
  await ask();
  await ask();
  expect(notices).toHaveLength(1);
  isDown = false;
  await memory.remember([said("It rains in Gouda.")]);
  await expect.poll(() => recalled(memory, "unlike")).not.toEqual([]);
  isDown = true;
  await ask();
  expect(notices).toHaveLength(2);
});

test("B45: an embedder gets only the part of a long text that small models accept", async () => {
  const model = embedder(MEANINGS);
  const memory = await memoryIn({ embed: model });
  await memory.remember([said("A long story. ".repeat(500), "earlier", { kind: "summary" })]);
  await recalled(memory, "A long question? ".repeat(500));
  await memory.close();
  expect(model.calls.flat().map((text) => text.length)).toEqual([2000, 2000]);
});

test("B6: remembering does not wait for the embedder, and closing a memory stops the embedder's calls", async () => {
  let aborted = false;
  const answer = ({ abortSignal }: { abortSignal?: AbortSignal }) =>
    new Promise<never>((_, reject) => {
      abortSignal?.addEventListener("abort", () => {
        aborted = true;
        reject(abortSignal.reason);
      });
    });
  const file = await temporaryFile();
  const memory = sqliteMemory({ file, embed: embedder(MEANINGS, { answer }) });
  await memory.remember([said("My automobile is red.")]);
  expect(await memory.list()).toHaveLength(1);
  await memory.close();
  expect(aborted).toBe(true);
});

test("B6: an abort ends the wait for the embedder at once, with the reason", async () => {
  const file = await remembered(["My automobile is red."]);
  const asked = Promise.withResolvers<void>();
  const answer = () => {
    asked.resolve();
    return new Promise<never>(() => {});
  };
  const memory = await memoryIn({ file, embed: embedder(MEANINGS, { answer }) });
  const late = new AbortController();
  const recall = recalled(memory, "car", { signal: late.signal });
  await asked.promise;
  const reason = new Error("nobody waits");
  late.abort(reason);
  await expect(recall).rejects.toBe(reason);
});

test("B45: forgetting an entry removes its vector too", async () => {
  const file = await remembered(["My automobile is red."]);
  const memory = await memoryIn({ file, embed: embedder(MEANINGS) });
  await memory.remove(1);
  await memory.remember([said("It rains in Delft.")]);
  expect(await recalled(memory, "car")).toEqual([]);
});

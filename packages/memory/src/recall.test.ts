import { characterTexts, tornCharacters } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { embedder, LARGE, memoryIn, padding, recalled, said, temporaryFile } from "./memory.fixture.ts";
import { cutMemoryText } from "./pieces.ts";

const COLOUR = "My favourite colour is teal.";
const DOG = "My dog is called Rex.";

for (const [size, fill] of [
  ["small", 0],
  ["large", LARGE],
] as const) {
  test(`B45: recall in a ${size} memory returns the entries that match, the best first, with their sources`, async () => {
    const memory = await memoryIn({ directory: "/home/me/garden" });
    await memory.remember(padding(fill));
    await memory.remember([said(COLOUR), said(DOG), said("Rex, the dog, likes teal cushions.")]);
    expect(await recalled(memory, "Which dog did Rex see?")).toEqual([DOG, "Rex, the dog, likes teal cushions."]);
    expect(await recalled(memory, "Which colours do I like?")).toEqual([COLOUR]);
    const [item] = await memory.recall("colour", { limit: 1, signal: new AbortController().signal });
    expect(item).toMatchObject({ text: COLOUR, source: "user, 2026-11-21, /home/me/garden, conversation earlier" });
  });

  test(`B45: recall in a ${size} memory returns at most as many entries as the limit`, async () => {
    const memory = await memoryIn();
    await memory.remember(padding(fill));
    await memory.remember(Array.from({ length: 30 }, (_, index) => said(`Oak number ${index} is old.`)));
    expect(await recalled(memory, "oak", { limit: 3 })).toHaveLength(3);
    expect(await recalled(memory, "oak", { limit: 0 })).toEqual([]);
  });

  test(`B45: an aborted recall in a ${size} memory rejects with the reason, and the next recall works`, async () => {
    const memory = await memoryIn();
    await memory.remember(padding(fill));
    await memory.remember([said(COLOUR)]);
    const reason = new Error("nobody waits");
    await expect(recalled(memory, "colour", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const late = new AbortController();
    const asked = recalled(memory, "colour", { signal: late.signal });
    setImmediate(() => late.abort(reason));
    // A small memory is searched at once; a large one in a thread, which starts with this query.
    if (fill > 0) await expect(asked).rejects.toBe(reason);
    else expect(await asked).toEqual([COLOUR]);
    expect(await recalled(memory, "colour")).toEqual([COLOUR]);
  });

  test(`B45: recall in a ${size} memory returns no entry of its own conversation`, async () => {
    const memory = await memoryIn();
    await memory.remember(padding(fill));
    await memory.remember([said(COLOUR, "a"), said(DOG, "a"), said(DOG, "b")]);
    expect(await recalled(memory, "colour", { conversation: "a" })).toEqual([]);
    expect(await recalled(memory, "colour", { conversation: "b" })).toEqual([COLOUR]);
    // The text was said in both conversations, so the model sees it anyway.
    expect(await recalled(memory, "dog", { conversation: "b" })).toEqual([]);
    expect(await recalled(memory, "dog", { conversation: "c" })).toEqual([DOG]);
  });

  test(`B45: a conversation with memory off neither gets nor supplies entries of a ${size} memory`, async () => {
    const memory = await memoryIn();
    await memory.remember(padding(fill));
    await memory.remember([said(COLOUR, "a"), said(DOG, "b"), said(DOG, "a"), said("Whales swim far.", "b")]);
    await memory.setOn("a", false);
    expect(await recalled(memory, "colour dog")).toEqual([DOG]);
    const [item] = await memory.recall("dog", { limit: 1, signal: new AbortController().signal });
    expect(item?.source).toContain("conversation b");
    expect(await recalled(memory, "colour whales", { conversation: "a" })).toEqual([]);
    await memory.setOn("a", true);
    expect(await recalled(memory, "colour")).toEqual([COLOUR]);
    expect(await recalled(memory, "whales", { conversation: "a" })).toEqual(["Whales swim far."]);
  });

  test(`B45: recall in a ${size} memory prefers entries of the current directory`, async () => {
    const memory = await memoryIn({ directory: "/here" });
    await memory.remember(padding(fill));
    await memory.remember([
      said("Tests run with vitest.", "b", { directory: "/here", kind: "fact" }),
      said("Tests run with mocha tests.", "a", { directory: "/there", kind: "fact" }),
    ]);
    expect(await recalled(memory, "tests")).toEqual(["Tests run with vitest.", "Tests run with mocha tests."]);
    const there = await memoryIn({ directory: "/there", file: await temporaryFile() });
    await there.remember([
      said("Tests run with vitest.", "b", { directory: "/here", kind: "fact" }),
      said("Tests run with mocha tests.", "a", { directory: "/there", kind: "fact" }),
    ]);
    expect(await recalled(there, "tests")).toEqual(["Tests run with mocha tests.", "Tests run with vitest."]);
  });

  test(`B81: a ${size} memory recalls facts and summaries of all directories, and messages of the same directory alone`, async () => {
    const memory = await memoryIn({ directory: "/here", embed: embedder([["tests", "vitest"]]) });
    await memory.remember(padding(fill));
    const elsewhere = { directory: "/there" };
    await memory.remember([
      said("Run the tests with vitest.", "a", elsewhere),
      said("I ran the tests with mocha.", "a", { ...elsewhere, role: "assistant" }),
      said("All tests use vitest.", "b", { ...elsewhere, kind: "fact" }),
      said("The tests were moved to vitest.", "c", { ...elsewhere, kind: "summary" }),
      said("Why do the tests fail?", "d", { directory: "/here" }),
    ]);
    expect((await recalled(memory, "tests")).toSorted()).toEqual([
      "All tests use vitest.",
      "The tests were moved to vitest.",
      "Why do the tests fail?",
    ]);
  });
}

test("B45: an entry from several directories counts as from the current directory, and shows this source", async () => {
  const memory = await memoryIn({ directory: "/here" });
  await memory.remember([
    said("Tests run with vitest here.", "a", { directory: "/here", kind: "fact" }),
    said("Tests run with vitest here.", "b", { directory: "/there", kind: "fact" }),
    said("Tests run with mocha.", "b", { directory: "/there", kind: "fact" }),
  ]);
  const items = await memory.recall("tests", { limit: 2, signal: new AbortController().signal });
  expect(items.map(({ source }) => source)).toEqual([
    "fact, 2026-11-21, /here, conversation a",
    "fact, 2026-11-21, /there, conversation b",
  ]);
});

test("B45: an added fact precedes a similar message", async () => {
  const memory = await memoryIn();
  await memory.add({ text: "Deployments happen on Fridays, after lunch and with care." });
  await memory.remember([said("Deployments happen on Fridays.")]);
  expect((await recalled(memory, "deployments"))[0]).toContain("after lunch");
});

test("B45: among entries that match equally well, the newest is first", async () => {
  const memory = await memoryIn();
  for (const manager of ["npm", "yarn", "pnpm"]) await memory.remember([said(`The project uses ${manager}.`)]);
  expect((await recalled(memory, "project"))[0]).toBe("The project uses pnpm.");
});

test("B45: an entry that shares only common words with the query does not match", async () => {
  const memory = await memoryIn();
  await memory.remember([said(COLOUR)]);
  expect(await recalled(memory, "What is the capital of France?")).toEqual([]);
  expect(await recalled(memory, "Is it?")).toEqual([]);
});

for (const [size, fill] of [
  ["small", 0],
  ["large", LARGE],
] as const) {
  test(`B45: recall in a ${size} memory returns no entry that shares a few words with the query by chance`, async () => {
    const memory = await memoryIn();
    await memory.remember(padding(fill));
    const fits = "In math.js, add once took strings too.";
    const distractors = [
      "Test the brakes before the winter.",
      "I add honey to my tea.",
      "Fix the bicycle on Sunday.",
      "My son has a math exam in June.",
      "The tests of the shop run every night.",
    ];
    await memory.remember(distractors.map((text) => said(text)));
    expect(await recalled(memory, "Fix add in math.js and test it")).toEqual([]);
    expect(await recalled(memory, "Write a poem about the winter, with a bicycle and my son")).toEqual([]);
    await memory.remember([said(fits)]);
    expect(await recalled(memory, "Fix add in math.js and test it")).toEqual([fits]);
    // A single word that is the whole subject finds entries with it.
    expect(await recalled(memory, "When is my son's exam?")).toEqual([distractors[3]]);
    expect(await recalled(memory, "bicycle")).toEqual([distractors[2]]);
    // A long message needs no more matches than one of eight words.
    const long = `${"first second third fourth fifth sixth seventh ninth tenth ".repeat(3)} add math.js`;
    expect(await recalled(memory, long)).toEqual([fits]);
  });
}

test("B45: recall ignores a word of most entries next to a rarer word, but not alone", async () => {
  const memory = await memoryIn();
  await memory.remember(padding(LARGE));
  await memory.remember([said("Der Hund heißt Rex.")]);
  await memory.remember(Array.from({ length: 60 }, (_, index) => said(`Oak number ${index} is old.`)));
  expect(await recalled(memory, "filler Hund")).toEqual(["Der Hund heißt Rex."]);
  expect(await recalled(memory, "filler")).toHaveLength(8);
  // One of ten words is not the majority.
  const [first, ...others] = await recalled(memory, "oak Hund");
  expect(first).toBe("Der Hund heißt Rex.");
  expect(others).toHaveLength(7);
});

test.each([
  ["Which trees did you plant?", "I planted a tree in May."],
  ["CAFÉ", "The cafe closes at noon."],
  ["Wo ist die Straße?", "Die Straße nach Utrecht ist gesperrt."],
  ["どの紅茶が好きですか", "私は紅茶が大好きです"],
  ["我喜欢什么颜色", "我最喜欢的颜色是蓝绿色"],
  ["อาหารไทยที่ไหน", "ฉันชอบอาหารไทยมาก"],
  ["как зовут собаку?", "Мою собаку зовут Рекс."],
  ["where is index.ts", "Exports stand in packages/memory/src/index.ts alone."],
])("B45: %s finds %s", async (query, text) => {
  const memory = await memoryIn();
  await memory.remember([said(text), said("Something else was said.")]);
  expect(await recalled(memory, query)).toEqual([text]);
});

test("B45: a query has no operators", async () => {
  const memory = await memoryIn();
  await memory.remember([said(COLOUR)]);
  for (const query of ['colour" OR "x', "colour NOT teal", "colour*", "text:colour", "(colour", "NEAR(colour teal)"]) {
    expect(await recalled(memory, query)).toEqual([COLOUR]);
  }
  for (const query of ["", "   ", '"', "\0", "\ud800", "🐕", "*", "-"])
    expect(await recalled(memory, query)).toEqual([]);
});

test("B45: recall accepts queries of any length, and reads their beginning and end", async () => {
  const memory = await memoryIn();
  await memory.remember([said(COLOUR), said(DOG), said("Whales swim in the sea.")]);
  const log = "nothing of interest ".repeat(50_000);
  expect(await recalled(memory, `${log} whales ${log} What of my dog?`)).toEqual([DOG]);
  expect(await recalled(memory, `My dog? ${log} whales ${log}`)).toEqual([DOG]);
});

test("B45: recall shortens a long summary", async () => {
  const memory = await memoryIn();
  await memory.remember([said(`Whales. ${"They swim. ".repeat(500)}`, "a", { kind: "summary" })]);
  const [text] = await recalled(memory, "whales");
  expect(text).toHaveLength(2000);
  expect(text).toMatch(/^Whales\. They.*…$/);
});

test("B45: memories of two users share nothing", async () => {
  const mine = await memoryIn();
  const yours = await memoryIn();
  await mine.remember([said(COLOUR)]);
  expect(await recalled(yours, "colour")).toEqual([]);
  expect(await yours.list()).toEqual([]);
});

test("a search in a large memory does not block the event loop", async () => {
  const memory = await memoryIn();
  await memory.remember(padding(LARGE));
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  expect(await recalled(memory, "filler 7")).not.toEqual([]);
  expect(turned).toBe(true);
});

test("many simultaneous recalls of a large memory all get answers", async () => {
  const memory = await memoryIn();
  await memory.remember(padding(LARGE));
  const numbers = Array.from({ length: 40 }, (_, index) => 100 + index);
  const answers = await Promise.all(numbers.map((number) => recalled(memory, `filler ${number}`)));
  for (const [index, number] of numbers.entries()) expect(answers[index]?.[0]).toContain(`Filler ${number} `);
});

test("F46: memory never cuts a text inside a character", () => {
  for (const [index, characters] of characterTexts(150, 60).entries()) {
    const kept = cutMemoryText(characters.join(""), 1 + (index % 60));
    expect(tornCharacters(kept), kept).toEqual([]);
  }
});

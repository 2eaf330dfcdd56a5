import { Agent, Session } from "@banyan/core";
import { checkConversation, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { memoryIn } from "./memory.fixture.ts";

const COLOUR = "The user's favourite colour is teal.";
const TREE = "The user's favourite tree is the banyan.";

async function facts() {
  const store = await memoryIn();
  for (const text of [COLOUR, TREE]) await store.add({ text });
  return store;
}

test("L6: a turn has the recalled entries that its reply cites, in the order of the marks", async () => {
  const store = await facts();
  const model = scriptedModel(["A banyan [m2] with teal leaves [m1], as in list[m3] and [m9]. Banyan [m2]."]);
  const agent = new Agent({ model, memory: { store, cite: true } });
  const session = Session.inMemory();
  const { citations } = await agent.send("Which favourite tree and colour?", { session });
  const [asked] = session.state.messages.values();
  const recalled = (asked?.role === "user" && asked.recalled) || [];
  expect(recalled.map(({ mark }) => mark)).toEqual(["m1", "m2"]);
  expect(citations.map(({ text }) => text)).toEqual([recalled[1]?.text, recalled[0]?.text]);
  expect(citations.map(({ text }) => text).toSorted()).toEqual([COLOUR, TREE].toSorted());
  expect(JSON.stringify(model.requests[0])).toMatch(
    /write the mark of the note.*\[m1\].*\[m1: a fact to keep.*\[m2: a fact/,
  );
});

test("L6: later turns go on counting, cite entries of earlier turns, and a dismissed entry cannot be cited", async () => {
  const store = await memoryIn();
  await store.add({ text: COLOUR });
  const model = scriptedModel(["Teal [m1].", "The banyan [m2], in teal [m1].", "Teal [m1], banyan [m2]."]);
  const agent = new Agent({ model, memory: { store, cite: true } });
  const session = Session.inMemory();
  await agent.send("Which favourite colour?", { session });
  await store.add({ text: TREE });
  const second = await agent.send("Which favourite tree?", { session });
  expect(second.citations.map(({ text }) => text)).toEqual([TREE, COLOUR]);
  const [first] = session.state.messages.keys();
  await session.notes.dismiss(first ?? "", 0, true);
  const third = await agent.send("Again?", { session });
  expect(third.citations.map(({ text }) => text)).toEqual([TREE]);
  expect(checkConversation(session.state)).toEqual([]);
});

test("L6: memory keeps the reply without the marks", async () => {
  const store = await facts();
  const agent = new Agent({ model: scriptedModel(["It surely is teal [m1]."]), memory: { store, cite: true } });
  await agent.send("My favourite colour, as text [m1]?");
  await expect.poll(async () => (await store.list()).map(({ text }) => text)).toContain("It surely is teal.");
  expect((await store.list()).map(({ text }) => text)).toContain("My favourite colour, as text [m1]?");
});

test("L6: without `cite`, the request has no marks and a turn no citations", async () => {
  const store = await facts();
  const model = scriptedModel(["Teal [m1]."]);
  const { citations } = await new Agent({ model, memory: { store } }).send("Which favourite colour?");
  expect(citations).toEqual([]);
  expect(JSON.stringify(model.requests)).not.toMatch(/\bm1\b|write the mark/);
});

test("L6: `cite` must be a boolean", async () => {
  const store = await memoryIn();
  const memory = { store, cite: "yes" };
  expect(() => new Agent({ model: scriptedModel([]), memory: memory as never })).toThrow(
    "memory.cite of an agent must be a boolean, not a string.",
  );
});

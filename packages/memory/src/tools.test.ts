import { Agent, type Call, type Json, Session, say } from "@banyan/core";
import { call, collect, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { type ManagedMemory, memoryTools } from "./index.ts";
import { memoryIn, recalled, said } from "./memory.fixture.ts";

/** Lets an agent call the tools, one per step. Returns the results. */
async function calls(
  memory: ManagedMemory,
  inputs: readonly (readonly [tool: string, input: Json])[],
  session = Session.inMemory(),
): Promise<Call[]> {
  const model = scriptedModel([...inputs.map(([tool, input]) => [call(tool, input)]), "Done."]);
  await collect(new Agent({ model, tools: memoryTools(memory) }).chat(say("Go."), { session }));
  return [...session.state.messages.values()].flatMap((message) => (message.role === "assistant" ? message.calls : []));
}

test("B45: an agent remembers a fact with its conversation and message", async () => {
  const memory = await memoryIn({ directory: "/home/me" });
  const session = Session.inMemory();
  const [done] = await calls(memory, [["remember", { fact: "The user prefers tabs." }]], session);
  expect(done).toMatchObject({ status: "completed", output: "Remembered: The user prefers tabs." });
  const [entry] = await memory.list();
  expect(entry).toMatchObject({ kind: "fact", conversation: session.id, directory: "/home/me" });
  expect(session.state.messages.get(entry?.message ?? "")).toMatchObject({
    role: "assistant",
    calls: [{ id: done?.id }],
  });
  expect(await recalled(memory, "tabs or spaces?")).toEqual(["The user prefers tabs."]);
});

test("B45: an agent forgets the entry that its words identify", async () => {
  const memory = await memoryIn();
  await memory.add({ text: "The user lives in Utrecht." });
  await memory.add({ text: "The user prefers tabs." });
  const [done] = await calls(memory, [["forget", { fact: "user living in Utrecht" }]]);
  expect(done).toMatchObject({ status: "completed", output: "Forgot: The user lives in Utrecht." });
  expect((await memory.list()).map(({ text }) => text)).toEqual(["The user prefers tabs."]);
});

test("B45: words that match several entries list them and remove none; a number or the whole text decides", async () => {
  const memory = await memoryIn();
  for (const text of ["Likes tea.", "Likes green tea.", "Likes tea with milk."]) await memory.add({ text });
  const [unclear, byNumber, byText] = await calls(memory, [
    ["forget", { fact: "tea" }],
    ["forget", { fact: "#2" }],
    ["forget", { fact: "Likes tea." }],
  ]);
  expect(unclear?.status).toBe("failed");
  for (const line of ["#1 Likes tea. (fact, ", "#2 Likes green tea.", "#3 Likes tea with milk."]) {
    expect(unclear?.output).toContain(line);
  }
  expect(byNumber?.output).toBe("Forgot: Likes green tea.");
  expect(byText?.output).toBe("Forgot: Likes tea.");
  expect((await memory.list()).map(({ text }) => text)).toEqual(["Likes tea with milk."]);
});

test("B45: an agent can forget an entry of common words", async () => {
  const memory = await memoryIn();
  await memory.add({ text: "Let it be." });
  const [done] = await calls(memory, [["forget", { fact: "be it" }]]);
  expect(done?.output).toBe("Forgot: Let it be.");
});

test("B45: words without a match remove nothing, and the result suggests fewer words", async () => {
  const memory = await memoryIn();
  await memory.add({ text: "Likes tea." });
  const [words, number] = await calls(memory, [
    ["forget", { fact: "likes coffee" }],
    ["forget", { fact: "#7" }],
  ]);
  for (const missed of [words, number]) {
    expect(missed).toMatchObject({ status: "failed", output: expect.stringContaining("try fewer") });
  }
  expect(await memory.list()).toHaveLength(1);
});

test("B45: the tools store and show nothing of a conversation with memory off", async () => {
  const memory = await memoryIn();
  await memory.remember([said("I live in Utrecht.", "off")]);
  await memory.setOn("off", false);
  const session = Session.inMemory();
  await memory.setOn(session.id, false);
  const [kept, byWords, byNumber] = await calls(
    memory,
    [
      ["remember", { fact: "Likes tea." }],
      ["forget", { fact: "Utrecht" }],
      ["forget", { fact: "#1" }],
    ],
    session,
  );
  expect(kept).toMatchObject({ status: "failed", output: expect.stringContaining("Memory is off") });
  for (const hidden of [byWords, byNumber]) {
    expect(hidden).toMatchObject({ status: "failed", output: expect.stringContaining("No entry in memory") });
  }
  expect(await memory.list()).toHaveLength(1);
});

test.each<Json>([{}, { fact: "" }, { fact: 3 }])("B45: the tools refuse the arguments %j", async (input) => {
  const memory = await memoryIn();
  const [remembered, forgotten] = await calls(memory, [
    ["remember", input],
    ["forget", input],
  ]);
  expect([remembered?.status, forgotten?.status]).toEqual(["failed", "failed"]);
  expect(await memory.list()).toEqual([]);
});

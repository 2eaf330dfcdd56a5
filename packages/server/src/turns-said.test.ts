import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, scriptedModel, stall, text } from "@banyan/core/testing";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "./testing/serving.fixture.ts";
import { gated, talking } from "./testing/talking.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

describe("B21, W36, W37: a message sent while an agent works", () => {
  test("steers, waits for the end of the turn, or ends the turn; the user can edit, reorder and take it back", async () => {
    const gate = gated();
    const model = scriptedModel([[call("wait")], "Heard.", "Later."]);
    const { client, conversation, ended, said, state } = await talking({ model, tools: [gate.tool] });
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { run } = await client.item("run.started");
    await client.item("call.executing");
    const steer = await client.ask("turn.say", { conversation, run, parts: say("look out") });
    expect(steer.waits).toBe(true);
    const later = await client.ask("turn.say", { conversation, run, parts: say("latre"), delivery: "queue" });
    const never = await client.ask("turn.say", { conversation, run, parts: say("never"), delivery: "queue" });
    await client.ask("input.edit", { conversation, input: later.message, parts: say("later") });
    await client.ask("input.edit", { conversation, input: never.message, before: steer.message });
    expect(state.inbox.map(({ id }) => id)).toEqual([never.message, steer.message, later.message]);
    await client.ask("input.withdraw", { conversation, input: never.message });
    await expect(client.ask("input.withdraw", { conversation, input: never.message })).rejects.toMatchObject({
      code: "not-found",
    });
    gate.open();
    await ended(2);
    expect(said().map(({ text: own }) => own)).toEqual(["go", "", "look out", "Heard.", "later", "Later."]);
  });

  test("W38: an interruption keeps the answer and holds waiting messages, and a resumed turn gets them", async () => {
    const model = scriptedModel([[text("I begin"), stall()], "All of it."]);
    const { client, conversation, ended, said, state } = await talking({ model });
    await client.ask("turn.say", { conversation, parts: say("go") });
    const { run } = await client.item("run.started");
    await client.item("text.delta");
    await client.ask("turn.say", { conversation, run, parts: say("and more"), delivery: "queue" });
    await client.ask("run.interrupt", { conversation });
    await ended(1);
    expect(state.inbox).toMatchObject([{ held: true }]);
    expect([...state.messages.values()].at(-1)).toMatchObject({ finish: "interrupted", parts: say("I begin") });
    await client.ask("turn.resume", { conversation });
    await ended(2);
    expect(said().map(({ text: own }) => own)).toEqual(["go", "I begin", "and more", "All of it."]);
  });

  test("a message to an ended run begins a turn at the end of the run's branch", async () => {
    const { client, conversation, ended, said } = await talking({ model: scriptedModel(["One.", "Two."]) });
    const { message } = await client.ask("turn.say", { conversation, parts: say("go") });
    const { run } = await client.item("run.started");
    await ended(1);
    const late = await client.ask("turn.say", { conversation, run, at: message, parts: say("too late?") });
    expect(late.waits).toBe(false);
    await ended(2);
    expect(said().map(({ text: own }) => own)).toEqual(["go", "One.", "too late?", "Two."]);
  });

  test("a message that names no run steers the run of its branch", async () => {
    const gate = gated();
    const model = scriptedModel([[call("wait")], "Heard."]);
    const { client, conversation, ended, said } = await talking({ model, tools: [gate.tool] });
    await client.ask("turn.say", { conversation, parts: say("go") });
    await client.item("call.executing");
    expect(await client.ask("turn.say", { conversation, parts: say("look out") })).toMatchObject({ waits: true });
    gate.open();
    await ended(1);
    expect(said().map(({ text: own }) => own)).toEqual(["go", "", "look out", "Heard."]);
  });
});

test("B46, W43: files named with @ are attached and listed, and typed letters find files", async () => {
  const workspace = temporaryDirectory();
  mkdirSync(join(workspace, "src", "trees"), { recursive: true });
  writeFileSync(join(workspace, "src", "trees", "oak.ts"), "export const oak = 'tall';\n");
  writeFileSync(join(workspace, "notes.md"), "slow\n");
  const model = scriptedModel(["One.", "Two."]);
  const { client, conversation, ended, state } = await talking({ model }, { workspace });
  const found = async (query: string) => (await client.ask("file.find", { query })).files;
  expect(await found("oak")).toEqual(["src/trees/oak.ts"]);
  expect(await found("tre")).toEqual(["src/trees/", "src/trees/oak.ts"]);
  expect(await found("sok")).toEqual(["src/trees/oak.ts"]);
  expect(await found("elm")).toEqual([]);
  expect((await client.ask("file.find", { query: "", limit: 2 })).files).toHaveLength(2);
  const said = await client.ask("turn.say", {
    conversation,
    parts: say("read @src/trees/oak.ts and @gone.ts, sk-key"),
  });
  expect(said).toMatchObject({
    attached: [{ name: "src/trees/oak.ts", kind: "text", size: expect.any(Number) }],
    problems: [expect.stringContaining("gone.ts")],
    redacted: true,
  });
  await ended(1);
  expect(JSON.stringify(state.messages.get(said.message))).toContain("export const oak");
  expect(JSON.stringify(model.requests)).toContain("export const oak");
  const retried = await client.ask("turn.retry", { conversation, parts: say("read @notes.md") });
  expect(retried).toMatchObject({ attached: [{ name: "notes.md" }], problems: [], redacted: false });
});

test("a text from another program is sent unchanged, without attachments and without secrets", async () => {
  const workspace = temporaryDirectory();
  writeFileSync(join(workspace, "notes.md"), "private\n");
  const model = scriptedModel(["One."]);
  const { client, conversation, ended } = await talking({ model }, { workspace });
  const parts = say("read @notes.md with sk-key");
  const said = await client.ask("turn.say", { conversation, parts, asIs: true });
  expect(said).toMatchObject({ attached: [], problems: [], redacted: true });
  await ended(1);
  expect(JSON.stringify(model.requests)).toContain("read @notes.md with [redacted:key]");
  expect(JSON.stringify(model.requests)).not.toContain("private");
});

import { createId } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { gated, talking } from "./testing/talking.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

test("T17: an added message begins no turn and loses only secrets; the model gets it with the next message", async () => {
  const model = scriptedModel(["I see."]);
  const { client, conversation, state, ended } = await talking({ model });
  const id = createId();
  const parts = say("!cat notes\n@notes.md sk-secret");
  for (const _ of ["once", "again"])
    expect(await client.ask("message.add", { id, conversation, parts })).toEqual({ message: id, waits: false });
  expect([...state.messages.values()]).toMatchObject([
    { id, parentId: null, role: "user", author: "user", parts: say("!cat notes\n@notes.md [redacted:key]") },
  ]);
  expect(model.asked).toBe(0);
  await client.ask("turn.say", { conversation, at: id, parts: say("what was it?") });
  await ended(1);
  expect(JSON.stringify(model.requests[0])).toMatch(/@notes\.md \[redacted:key\].*what was it\?/);
});

test("T17: a message can be added below any message or the root, but not below an unknown message", async () => {
  const { client, conversation, state } = await talking({ model: scriptedModel([]) });
  const first = await client.ask("message.add", { conversation, parts: say("one") });
  await client.ask("message.add", { conversation, parts: say("two") });
  const beside = await client.ask("message.add", { conversation, parts: say("beside"), at: first.message });
  const root = await client.ask("message.add", { conversation, parts: say("root"), at: null });
  expect(state.children.get(first.message)).toHaveLength(2);
  expect(state.messages.get(beside.message)?.parentId).toBe(first.message);
  expect(state.messages.get(root.message)?.parentId).toBeNull();
  const nowhere = client.ask("message.add", { conversation, parts: say("lost"), at: createId() });
  await expect(nowhere).rejects.toMatchObject({ code: "not-found" });
  expect(state.messages.size).toBe(4);
});

test("T17: a running turn gets an added message; after the turn the message ends the branch", async () => {
  const { tool, open } = gated();
  const model = scriptedModel([[call("wait")], "Heard."]);
  const { client, conversation, state, ended } = await talking({ model, tools: [tool] });
  const { message } = await client.ask("turn.say", { conversation, parts: say("go") });
  const { run } = await client.item("run.started");
  await client.item("call.executing");
  expect(await client.ask("message.add", { conversation, run, parts: say("!date") })).toMatchObject({ waits: true });
  open();
  await ended(1);
  expect(JSON.stringify(model.requests[1])).toContain("!date");
  const late = await client.ask("message.add", { conversation, run, at: message, parts: say("!late") });
  expect(late.waits).toBe(false);
  expect(state.leaf).toBe(late.message);
  expect([...state.messages.values()].at(-2)).toMatchObject({ id: state.messages.get(late.message)?.parentId });
  expect(model.asked).toBe(2);
});

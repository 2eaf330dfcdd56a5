import { scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { serving } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (text: string) => [{ type: "text", text }] as const;

test("B50: a client says something and sees the answer come, and both are in the store", async () => {
  const { server, store } = await serving({ model: scriptedModel(["Hello to you."]) });
  const client = await TestClient.connect(server);
  const { conversation } = await client.ask("conversation.create", {});
  const mirror = await client.watch(conversation);
  const { message, waits } = await client.ask("turn.say", { conversation, parts: say("hello") });
  expect(waits).toBe(false);
  await client.item("run.ended");
  const path = [...mirror.state.messages.values()];
  expect(path.map(({ role, parts }) => [role, parts])).toEqual([
    ["user", [{ type: "text", text: "hello" }]],
    ["assistant", [{ type: "text", text: "Hello to you." }]],
  ]);
  expect(path[0]?.id).toBe(message);
  expect(await store.list()).toMatchObject([{ id: conversation, title: "hello" }]);
});

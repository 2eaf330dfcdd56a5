import { scriptedModel, stall, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { serving } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

test("B55: a client that watches a removed conversation gets the end of its run, and then the removal", async () => {
  const { server } = await serving({ model: scriptedModel([[text("Hm"), stall()]]) });
  const [watching, working] = [await TestClient.connect(server), await TestClient.connect(server)];
  const { conversation } = await working.ask("conversation.create", {});
  const mirror = await watching.watch(conversation);
  await working.ask("turn.say", { conversation, parts: [{ type: "text", text: "speak" }] });
  await watching.item("text.delta");
  await working.ask("conversation.remove", { conversation });
  expect(await watching.frame("ended")).toMatchObject({ conversation, reason: "removed" });
  expect(mirror.state.runs.size).toBe(0);
  expect([...mirror.state.messages.values()].at(-1)).toMatchObject({ finish: "interrupted" });
});

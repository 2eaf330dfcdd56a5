import { Agent, retry, Session } from "@banyan/core";
import { call, collect, fail, reasoning, scriptedModel, text } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { shapeOf } from "./shape.ts";
import { look } from "./tools.ts";

test("a shape has the speakers, the outcomes of calls, and the end", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[reasoning("Hm."), text("Looking."), call("look", { at: "a" })], "Seen."]);
  await new Agent({ model, tools: [look] }).send("Look", { session });
  expect(shapeOf(session.state)).toEqual({
    messages: [
      { by: "user", text: "Look" },
      {
        by: "assistant",
        reasoning: "Hm.",
        text: "Looking.",
        calls: [{ tool: "look", input: { at: "a" }, status: "completed", output: "seen: a" }],
        finish: "calls",
        counted: true,
      },
      { by: "assistant", text: "Seen.", finish: "stop", counted: true },
    ],
    ended: "answered",
  });
});

test("a branch names the message above it", async () => {
  const session = Session.inMemory();
  const agent = new Agent({ model: scriptedModel(["One.", "Two."]) });
  await agent.send("Count", { session });
  await collect(agent.chat(retry(), { session }));
  expect(shapeOf(session.state).messages.map(({ text, below }) => [text, below])).toEqual([
    ["Count", undefined],
    ["One.", undefined],
    ["Two.", 0],
  ]);
});

test("a failure is marked, without the provider's words", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[call("look", { at: "a" }), fail("authentication")]]);
  await new Agent({ model, tools: [look] }).send("Look", { session }).catch(() => {});
  expect(shapeOf(session.state)).toMatchObject({
    messages: [
      { by: "user" },
      {
        broke: true,
        calls: [{ status: "cancelled", output: "Not executed: the answer broke off: <what went wrong>" }],
      },
    ],
    ended: "failed",
  });
});

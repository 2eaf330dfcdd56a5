import { expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { isEvent } from "../conversation/event.ts";
import type { AssistantMessage } from "../conversation/message.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { call, scriptedModel } from "../testing/scripted-model.ts";

const PRICE = { input: 1, output: 1 };

/** A turn whose call has the conversation take model `b`. */
async function play(more: Partial<AgentOptions>) {
  const session = Session.inMemory();
  const first = { ...scriptedModel([[call("change")], "said by a"]), id: "a", price: PRICE };
  const second = { ...scriptedModel(["said by b"]), id: "b" };
  const change = {
    name: "change",
    description: "Changes the model.",
    input: { type: "object" },
    effects: "none",
    execute: async () => {
      await session.commit([{ type: "model.changed", model: "b" }]);
      return "changed";
    },
  } as const;
  const agent = new Agent({ model: first, tools: [change], modelNamed: async () => second, ...more });
  const items = await collect(agent.chat(say("Go"), { session }));
  const answers = [...session.state.messages.values()].filter((m): m is AssistantMessage => m.role === "assistant");
  return { models: answers.map(({ model }) => model), events: items.filter(isEvent), items };
}

test("T42: a model that the conversation is given while a turn runs takes the next step", async () => {
  const { models, events } = await play({});
  expect(models).toEqual(["a", "b"]);
  expect(events.at(-1)).toMatchObject({ type: "run.ended", reason: "answered" });
});

test("T42: a turn keeps its model where no other can be had, or a limit could not be held with it", async () => {
  expect((await play({ modelNamed: undefined as never })).models).toEqual(["a", "a"]);
  const gone = await play({
    modelNamed: async () => {
      throw new Error("no such model");
    },
  });
  expect(gone.models).toEqual(["a", "a"]);
  expect(gone.items).toContainEqual(
    expect.objectContaining({ type: "callback.failed", callback: "modelNamed", reason: "no such model" }),
  );
  const limited = await play({ limits: { cost: 1 } });
  expect(limited.models).toEqual(["a", "a"]);
  expect(limited.items).toContainEqual(
    expect.objectContaining({ type: "callback.failed", reason: expect.stringContaining("the price of b is unknown") }),
  );
});

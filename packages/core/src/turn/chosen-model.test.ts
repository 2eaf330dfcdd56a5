import { expect, test } from "vitest";
import { Agent, type AgentOptions, type TurnHandler } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { isEvent } from "../conversation/event.ts";
import type { AssistantMessage } from "../conversation/message.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { call, scriptedModel } from "../testing/scripted-model.ts";

const PRICE = { input: 1, output: 1 };

/** An agent whose first call has its conversation take model `b`. */
function changing(session: Session, more: Partial<AgentOptions>) {
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
  return { agent: new Agent({ model: first, tools: [change], modelNamed: async () => second, ...more }) };
}

async function play(more: Partial<AgentOptions>) {
  const session = Session.inMemory();
  const { agent } = changing(session, more);
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

test("T42: the turns after it keep that model, until somebody answers with another agent", async () => {
  const third = { ...scriptedModel(["said by c"]), id: "c" };
  const second = { ...scriptedModel(["said by b", "said by b", "said by b"]), id: "b" };
  let turns = 0;
  const onTurn: TurnHandler = (_, agent) => {
    turns++;
    if (turns === 1) return agent.chat(say("Again"));
    return turns === 2 ? agent.with({ model: third }).chat(say("Once more")) : undefined;
  };
  const { models, events } = await play({ modelNamed: async () => second, onTurn });
  expect(models).toEqual(["a", "b", "b", "c"]);
  expect(events.flatMap((event) => (event.type === "run.started" ? [event.model] : []))).toEqual(["a", "b", "c"]);
});

test("B22: an interrupt does not wait for a model that somebody still looks for", async () => {
  const session = Session.inMemory();
  const looking = Promise.withResolvers<void>();
  const { agent } = changing(session, {
    modelNamed: () => {
      looking.resolve();
      return new Promise(() => {});
    },
  });
  const turn = agent.send("Go", { session });
  await looking.promise;
  session.interrupt();
  expect(await turn).toMatchObject({ reason: "interrupted", steps: 1 });
});

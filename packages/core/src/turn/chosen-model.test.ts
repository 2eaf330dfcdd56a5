import { expect, test } from "vitest";
import { Agent, type AgentOptions, type TurnHandler } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { say } from "../agent/directive.ts";
import { isEvent } from "../conversation/feed-item.ts";
import type { AssistantMessage } from "../conversation/message.ts";
import { type ModelDriver, ModelError } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { call, fail, type Script, scriptedModel, text } from "../testing/scripted-model.ts";

const PRICE = { input: 1, output: 1 };

/** An agent whose first call switches its conversation to model `b`. */
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

test("T42: a conversation's new model takes the next step of a running turn", async () => {
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

test("T42: the turns after it keep that model, until another agent answers", async () => {
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

test("B22: an interrupt does not wait for the search for a model", async () => {
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

/** An agent whose model says `first`, with the fallbacks `b` and `c`. */
function withFallbacks(first: Script, more: Partial<AgentOptions> = {}) {
  const a = { ...scriptedModel(first), id: "a" };
  const others: Record<string, ModelDriver> = {
    b: { ...scriptedModel([[fail("unreachable", { message: "Nobody." })]]), id: "b" },
    c: { ...scriptedModel(["said by c", "said by c again"]), id: "c" },
  };
  const modelNamed = async (name: string) => {
    const found = others[name];
    if (!found) throw new Error(`there is no ${name}`);
    return found;
  };
  const retry = { attempts: 1 };
  return new Agent({ model: a, modelNamed, fallbacks: ["gone", "b", "c"], retry, ...more });
}

const answersIn = ({ state }: Session) =>
  [...state.messages.values()].filter((message): message is AssistantMessage => message.role === "assistant");

test("C9: while a model is unavailable, the next model continues the turn and says so; the next turn begins with the first", async () => {
  const session = Session.inMemory();
  const agent = withFallbacks([[text("Half a"), fail("overloaded", { message: "Too much to do." })], "said by a"]);
  const items = await collect(agent.chat(say("Go"), { session }));
  const told = items.filter((item) => item.type === "model.replaced" || item.type === "callback.failed");
  expect(told).toMatchObject([
    { type: "callback.failed", callback: "modelNamed", reason: "there is no gone" },
    { type: "model.replaced", from: "a", to: "b", code: "overloaded", reason: "Too much to do." },
    { type: "model.replaced", from: "b", to: "c", code: "unreachable", reason: "Nobody." },
  ]);
  expect(items.at(-2)).toMatchObject({ type: "run.ended", reason: "answered" });
  await agent.send("And now?", { session });
  // The beginning of the first answer is discarded: the fallback's answer replaces it.
  expect(answersIn(session).map(({ model, parts }) => [model, parts])).toEqual([
    ["c", [{ type: "text", text: "said by c" }]],
    ["a", [{ type: "text", text: "said by a" }]],
  ]);
});

test("C9: the notice for a busy model names the fault, and for a model that needs the user also the remedy", async () => {
  for (const [code, reason] of [
    ["overloaded", "It is busy"],
    ["quota", "It is empty; fill it"],
  ] as const) {
    const said = code === "quota" ? { fact: "It is empty", advice: "fill it" } : { fact: "It is busy", advice: "wait" };
    const agent = withFallbacks([[{ type: "error", error: new ModelError(code, said) }]], { fallbacks: ["c"] });
    const items = await collect(agent.chat(say("Go"), { session: Session.inMemory() }));
    expect(items).toContainEqual(expect.objectContaining({ type: "model.replaced", code, reason }));
  }
});

test("C9: the last model fails as usual; no model replaces it if the request or the key is at fault", async () => {
  const session = Session.inMemory();
  const last = withFallbacks([[fail("quota", { message: "Empty." })]], { fallbacks: ["b"] });
  const turn = await last.send("Go", { session }).catch((error: unknown) => error);
  expect(turn).toMatchObject({ message: expect.stringContaining("Nobody.") });
  for (const code of ["authentication", "invalid-request"] as const) {
    const items = await collect(withFallbacks([[fail(code, { message: "No." })]]).chat(say("Go")));
    expect(items.filter(({ type }) => type === "model.replaced")).toEqual([]);
    expect(items.at(-2)).toMatchObject({ type: "run.ended", reason: "failed", error: { code } });
  }
});

test("C9: without another model, the partial answer is kept as usual", async () => {
  const session = Session.inMemory();
  const agent = withFallbacks([[text("Half a"), fail("overloaded")]], { fallbacks: ["gone"] });
  await agent.send("Go", { session }).catch(() => {});
  expect(answersIn(session)).toMatchObject([{ model: "a", finish: "error", parts: [{ text: "Half a" }] }]);
});

test("C9: a sub-agent with an unavailable model keeps its own instructions with the other model", async () => {
  const session = Session.inMemory();
  const seen: string[] = [];
  const main = scriptedModel([[call("launch_agent", { task: "Dig", expected_output: "gold" })], "Done."]);
  const out = scriptedModel(() => [fail("overloaded", { message: "Busy." })]);
  const model: ModelDriver = {
    ...main,
    id: "a",
    stream: (request, sink, signal) =>
      (JSON.stringify(request.messages).includes("Dig") && request.tools.some(({ name }) => name === "finish_task")
        ? out
        : main
      ).stream(request, sink, signal),
  };
  const digger = scriptedModel(({ instructions }) => {
    seen.push(instructions);
    return [call("finish_task", { result: "gold", summary: "Dug." })];
  });
  const agent = new Agent({
    model,
    modelNamed: async () => ({ ...digger, id: "b" }),
    fallbacks: ["b"],
    retry: { attempts: 1 },
    tools: [launchAgent()],
    instructions: "You are the parent.",
  });
  const turn = await agent.send("Go", { session });
  expect(turn.text).toBe("Done.");
  expect(seen).toEqual([expect.stringContaining("You work on a task alone")]);
  expect(answersIn(session).map(({ model: name }) => name)).toEqual(["a", "b", "a"]);
});

test("C9: fallbacks are names, and need a resolver of names", () => {
  const model = scriptedModel(["Hi."]);
  expect(() => new Agent({ model, fallbacks: ["b"] })).toThrow(/give modelNamed as well/);
  expect(() => new Agent({ model, fallbacks: "b" as never, modelNamed: async () => model })).toThrow(/list of names/);
});

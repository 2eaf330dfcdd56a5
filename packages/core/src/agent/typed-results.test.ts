import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Event } from "../conversation/event.ts";
import type { Json } from "../conversation/part.ts";
import { defineTool } from "../ports/define-tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { call, type Script, scriptedModel } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import type { Chat } from "./chat.ts";
import { say } from "./directive.ts";
import { TurnError } from "./turn-error.ts";

/** A default and a transform: the result is not what the model wrote. */
const trip = z.object({
  city: z.string(),
  days: z.number().default(3),
  begins: z.iso.date().transform((text) => new Date(`${text}T00:00:00Z`)),
});
type Trip = z.output<typeof trip>;

const rome = { city: "Rome", begins: "2026-11-29" };
const result: Trip = { city: "Rome", days: 3, begins: new Date("2026-11-29T00:00:00Z") };

const finish = (value: Json) => [call("finish_task", { result: value })];

/** The same agent in both modes, with the way in which its model gives a result. */
const modes = [
  { mode: "task", give: finish },
  { mode: "chat", give: (value: Json) => JSON.stringify(value) },
] as const;

function agentOf(mode: "chat" | "task", script: Script, options: Partial<AgentOptions<Trip>> = {}): Agent<Trip> {
  return new Agent({ model: scriptedModel(script), mode, output: trip, ...options });
}

describe.each(modes)("a typed result in $mode mode", ({ mode, give }) => {
  test("L2: has the defaults and transforms of its schema, and the log has the JSON of the model", async () => {
    const session = Session.inMemory();
    const turn = await agentOf(mode, [give(rome)]).send("Plan a trip.", { session });
    expectTypeOf(turn.result).toEqualTypeOf<Trip>();
    expect(turn.result).toEqual(result);
    expect(turn.reason).toBe(mode === "task" ? "finished" : "answered");
    expect(JSON.parse(turn.text)).toEqual(rome);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L2: is that of `chat().turn` too", async () => {
    const chat = agentOf(mode, [give(rome)]).chat(say("Plan a trip."));
    expectTypeOf(chat).toEqualTypeOf<Chat<Trip>>();
    expect((await chat.turn).result).toEqual(result);
  });

  test("L2: that does not match is requested again, with the reason", async () => {
    const session = Session.inMemory();
    const agent = agentOf(mode, [give({ city: 7 }), give(rome)]);
    expect(await agent.send("Plan a trip.", { session })).toMatchObject({ result, steps: 2 });
    expect(JSON.stringify([...session.state.messages.values()])).toMatch(/(at |at result\.)city/);
  });

  test("L2: fails after `retry.results` values, with the last value", async () => {
    for (const [results, wrong] of [
      [undefined, 2],
      [1, 1],
      [3, 3],
    ] as const) {
      const values = Array.from({ length: wrong }, (_, index) => give({ city: index }));
      const agent = agentOf(mode, [...values, "never asked"], { retry: { results } });
      const error = await agent.send("Plan a trip.").catch((error: unknown) => error);
      expect(error).toBeInstanceOf(TurnError);
      expect(error).toMatchObject({ code: "output", value: { city: wrong - 1 }, turn: { steps: wrong } });
    }
  });

  test("L2: fails at a limit and when it is interrupted: there is no result of another type", async () => {
    const agent = agentOf(mode, [give({ city: 1 }), "That is all."], { limits: { steps: 1 } });
    await expect(agent.send("Plan a trip.")).rejects.toMatchObject({ code: "limit", turn: { reason: "limit" } });
    const session = Session.inMemory();
    const model = scriptedModel(() => {
      session.interrupt();
      return "Too late.";
    });
    const interrupted = agent.with({ model, limits: {} }).send("Plan a trip.", { session });
    await expect(interrupted).rejects.toMatchObject({ code: "interrupted", turn: { reason: "interrupted" } });
  });
});

test.each(modes)(
  "L2: in $mode mode, comes from a turn that another process continues after an approval",
  async ({ mode, give }) => {
    const events: Event[] = [];
    const send = defineTool({
      name: "send",
      description: "",
      input: { type: "object" },
      effects: "external",
      execute: () => "sent",
    });
    const agent = agentOf(mode, [[call("send")], give(rome)], {
      tools: [send],
      permission: ({ tool }) => ({ decision: tool.name === "send" ? "ask" : "allow" }),
    });
    const open = () => Session.open(storeOf(events), "trip-7", { create: true });
    const first = await open();
    const asked = await agent.send("Plan a trip.", { session: first, untilAsked: true });
    expect(asked).toMatchObject({ reason: "waiting", result: undefined });
    await first.close();
    await using session = await open();
    const turn = await agent.answer(asked.questions[0]?.id ?? "", { decision: "allow" }, { session });
    expect(turn).toMatchObject({ reason: mode === "task" ? "finished" : "answered", result });
  },
);

describe("the type of a result", () => {
  test("L2: follows the schema through `with`, the builder and the options, without a cast", () => {
    const model = scriptedModel([]);
    const agent = new Agent({ model, output: trip });
    expectTypeOf(agent).toEqualTypeOf<Agent<Trip>>();
    expectTypeOf(agent.with({ name: "planner" })).toEqualTypeOf<Agent<Trip>>();
    expectTypeOf(agent.with({ output: z.object({ n: z.number() }) })).toEqualTypeOf<Agent<{ n: number }>>();
    expectTypeOf(Agent.builder().model(model).output(trip).name("planner").build()).toEqualTypeOf<Agent<Trip>>();
    expectTypeOf(new Agent({ model })).toEqualTypeOf<Agent>();
    expectTypeOf(new Agent({ model, output: { type: "object" } })).toEqualTypeOf<Agent>();
    const waiting = () => agent.send("Go", { untilAsked: true });
    expectTypeOf(waiting).returns.resolves.toHaveProperty("result").toEqualTypeOf<Trip | undefined>();
    // A typed agent may take the place of any agent.
    expectTypeOf(agent).toExtend<Agent<unknown>>();
    new Agent({ model, onTurn: () => agent.chat(say("Plan a trip.")) });
  });

  test("L2: in chat mode, text that is no JSON and JSON in a code block", async () => {
    const script = ["Rome is nice.", `\`\`\`json\n${JSON.stringify(rome)}\n\`\`\``];
    expect((await agentOf("chat", script).send("Plan a trip.")).result).toEqual(result);
    const never = agentOf("chat", ["Rome is nice.", "Really.", "never asked"]).send("Plan a trip.");
    await expect(never).rejects.toMatchObject({ code: "output", value: "Really." });
  });
});

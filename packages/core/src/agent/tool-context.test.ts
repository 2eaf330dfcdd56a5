import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { LoopDriver, Tool, ToolContext } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { call, finishTask, scriptedModel } from "../testing/index.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent } from "./agent.ts";
import { launchAgent } from "./control/launch-agent.ts";

interface Shop {
  readonly user: string;
  readonly orders: (user: string) => readonly string[];
}

const shop = (user: string): Shop => ({ user, orders: () => [`tea for ${user}`] });

const orders = defineTool({
  name: "orders",
  description: "Lists the orders of the user.",
  input: z.object({ most: z.number().default(3) }),
  effects: "none",
  execute: ({ most }, { context }: ToolContext<Shop>) => context.orders(context.user).slice(0, most),
});
const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  input: { type: "object" },
  effects: "none",
  execute: () => "12:00",
});
const greet = defineTool({
  name: "greet",
  description: "Greets the user.",
  input: { type: "object" },
  effects: "none",
  execute: (_, { context }: ToolContext<{ readonly user: string; readonly title: string }>) => context.title,
});

const outputs = ({ state }: Session) =>
  [...state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls.map(({ output }) => output) : [],
  );

describe("a tool with a context", () => {
  test("L6: gets the agent's context, which neither the log nor the model gets", async () => {
    const events: Event[] = [];
    const session = await Session.open(storeOf(events), "x");
    const model = scriptedModel([[call("orders")], "Tea."]);
    const context = { ...shop("ada"), password: "s3cret" };
    await new Agent({ model, tools: [clock, orders], context }).send("What did I order?", { session });
    expect(outputs(session)).toEqual(['["tea for ada"]']);
    expect(JSON.stringify([events, model.requests])).not.toContain("s3cret");
  });

  test("L6: a changed context counts for the changed agent only", async () => {
    const agent = new Agent({ model: scriptedModel(() => undefined), tools: [orders], context: shop("ada") });
    const answers = await Promise.all(
      ["ada", "bob"].map(async (user) => {
        const session = Session.inMemory();
        const model = scriptedModel([[call("orders")], "Tea."]);
        await agent.with({ context: shop(user), model }).send("What did I order?", { session });
        return outputs(session)[0];
      }),
    );
    expect(answers).toEqual(['["tea for ada"]', '["tea for bob"]']);
  });

  test("L6: a sub-agent has the context of its parent", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([
      [call("launch_agent", { task: "Look it up.", expected_output: "a fact" })],
      [call("orders")],
      [finishTask("Tea.")],
      "You ordered tea.",
    ]);
    await new Agent({ model, tools: [orders, launchAgent()], context: shop("ada") }).send("Hi", { session });
    expect(outputs(session)).toContain('["tea for ada"]');
  });

  test("L6: has the context in its preview, and in the turn of a driver that runs whole turns", async () => {
    const seen: unknown[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: { type: "object" },
      effects: "external",
      execute: (_, { context, agreed }: ToolContext<Shop>) => seen.push(context.user, agreed?.notes),
      preview: (_, { context }) => ({ notes: [`as ${context.user}`] }),
    });
    const loop: LoopDriver = {
      id: "loop/driver",
      family: "loop",
      async run(_, sink) {
        const response = await sink.begin();
        response.push([
          { type: "call", index: 0, id: "pay-1", tool: "pay" },
          { type: "call-input", index: 0, text: "{}" },
          { type: "call-end", index: 0 },
          { type: "finish", reason: "calls", usage: { input: 1, output: 1, cached: 0, cacheWrite: 0, reasoning: 0 } },
        ]);
        for (const { id } of await sink.complete()) await sink.execute(id);
      },
    };
    const session = Session.inMemory();
    session.listen({
      items: (items) => {
        for (const item of items)
          if (item.type === "call.approval-requested") void session.answer(item.question, { decision: "allow" });
      },
      ended() {},
    });
    const permission = () => ({ decision: "ask" }) as const;
    await new Agent({ model: loop, tools: [pay], context: shop("ada"), permission }).send("Pay.", { session });
    expect(seen).toEqual(["ada", ["as ada"]]);
  });

  test("L6: the builder takes the context before the tools", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[call("orders")], "Tea."]);
    const agent = Agent.builder().model(model).context(shop("ada")).tools(orders).build();
    await agent.send("Hi", { session });
    expect(outputs(session)).toEqual(['["tea for ada"]']);
  });
});

describe("the compiler", () => {
  const model = scriptedModel([]);
  const agent = new Agent({ model, tools: [clock, orders], context: shop("ada") });

  test("L6: knows the context that a tool needs, and takes any agent where the context does not matter", () => {
    expectTypeOf(orders).toEqualTypeOf<Tool<{ most: number }, string[], Shop>>();
    expectTypeOf(clock).toEqualTypeOf<Tool<unknown, string>>();
    expectTypeOf(agent).toEqualTypeOf<Agent<ReturnType<typeof result>, Shop>>();
    const takes = (any: Agent<unknown>) => any;
    expect(takes(agent)).toBe(agent);
  });

  test("L6: names the missing context, a wrong field, and a tool that needs more", () => {
    const wrong = () => [
      // @ts-expect-error Property 'context' is missing.
      new Agent({ model, tools: [clock, orders] }),
      // @ts-expect-error Property 'user' is missing in type '{ usr: string; }'.
      new Agent({ model, tools: [clock, orders], context: { usr: "ada" } }),
      // @ts-expect-error Property 'title' is missing.
      new Agent({ model, tools: [greet], context: { user: "ada" } }),
      // @ts-expect-error 'usr' does not exist.
      agent.with({ context: { usr: "ada" } }),
      // @ts-expect-error The new tool needs a context.
      agent.with({ tools: [greet] }),
      // @ts-expect-error A builder without a context.
      Agent.builder().model(model).tools(orders),
    ];
    expectTypeOf(wrong).toBeFunction();
  });

  const result = () => null as Awaited<ReturnType<typeof agent.send>>["result"];
});

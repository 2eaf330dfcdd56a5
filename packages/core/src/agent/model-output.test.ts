import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { readEarlier } from "../context/earlier.ts";
import { type LimitedOptions, limitedModel } from "../context/limited-model.fixture.ts";
import type { Event } from "../conversation/event.ts";
import { callIn } from "../conversation/tree/call-state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { LoopDriver, Tool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { call, type Scene, scriptedModel } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";

const CARD = "4242 4242 4242 4242";

/** Returns a card number, of which the model gets the last digits. */
function cards(more: Partial<Tool> = {}): Tool {
  const tool = defineTool({
    name: "card",
    description: "Returns the card of a customer.",
    input: z.object({ customer: z.string().default("Ada") }),
    effects: "none",
    execute: ({ customer }) => ({ customer, card: CARD, history: "x".repeat(1_000) }),
    toModelOutput: ({ customer, card }, input) =>
      `${customer} (${input.customer}) has a card ending in ${card.slice(-4)}.`,
  });
  return { ...tool, ...more };
}

const TEXT = "Ada (Ada) has a card ending in 4242.";

function play(scenes: readonly Scene[], tool: Tool, more: Partial<AgentOptions> = {}) {
  const model = scriptedModel(scenes);
  return { model, agent: new Agent({ model, tools: [tool], ...more }) };
}

const resultsIn = ({ messages }: ModelRequest) =>
  messages.flatMap((message) => (message.role === "assistant" ? message.results.map(({ output }) => output) : []));

describe("toModelOutput", () => {
  test("L6: the model gets the text; users, hooks, callbacks and the log get the result", async () => {
    const told: unknown[] = [];
    const { agent, model } = play([[call("card")], "Done."], cards(), {
      hooks: { afterCall: ({ output }) => void told.push(output) },
      callbacks: { onCall: ({ output, modelOutput }) => told.push(output, modelOutput) },
    });
    const session = Session.inMemory();
    await agent.send("Go", { session });
    expect(model.requests.map(resultsIn)).toEqual([[], [TEXT]]);
    expect(JSON.stringify(model.requests)).not.toContain(CARD);
    const whole = expect.stringContaining(CARD);
    expect(told).toEqual([whole, whole, TEXT]);
    expect(callIn(session.state, { call: "call_1" })).toMatchObject({ output: whole, modelOutput: TEXT });
  });

  test("L6: after a restart the model reads the same text, without the tool", async () => {
    const events: Event[] = [];
    const open = () => Session.open(storeOf(events), "c", { create: true });
    const first = await open();
    const { agent, model } = play([[call("card")], "Done."], cards());
    await agent.send("Go", { session: first });
    await first.close();
    const later = scriptedModel(["Again."]);
    await using second = await open();
    await new Agent({ model: later }).send("And?", { session: second });
    const before = model.requests[1]?.messages ?? [];
    expect(later.requests[0]?.messages.slice(0, before.length)).toEqual(before);
    expect(resultsIn(later.requests[0] as ModelRequest)).toEqual([TEXT]);
  });

  test.each<[string, Partial<LimitedOptions>, string]>([
    ["shortened old results", {}, "2,008 characters"],
    ["results cut to fit", { refuses: ({ messages }) => messages.length === 8 }, "Masked. word"],
  ])("L6: %s, summaries and earlier: addresses have the text, never the result", async (_, options, shortened) => {
    const long = cards({ toModelOutput: () => `Masked. ${"word ".repeat(400)}` });
    const model = limitedModel(
      ({ messages }) => (messages.at(-1)?.role === "user" && messages.length > 1 ? "Yes." : [call("card")]),
      { window: 4_000, ...options },
    );
    const session = Session.inMemory();
    const agent = new Agent({
      model,
      tools: [long],
      compaction: { background: false, contextSize: 4_000 },
      limits: { steps: 9 },
    });
    for (const text of ["One", "Two", "Three"]) await agent.send(text, { session });
    const shortenings = [...session.state.messages.values()].filter(({ role }) => role === "summary");
    expect(JSON.stringify(shortenings)).toContain(shortened);
    expect(await agent.compact({ session })).toBeUndefined();
    expect(JSON.stringify([...model.requests, ...shortenings])).not.toContain(CARD);
    const path = pathTo(session.state, session.state.leaf);
    const id = path.flatMap((message) => (message.role === "assistant" ? message.calls : []))[0]?.id;
    const earlier = readEarlier(path, `earlier:${id}`);
    expect(earlier).toContain("Masked. word");
    expect(earlier + readEarlier(path, "earlier:")).not.toContain(CARD);
  });

  test("L6: histories for models have the text, and messages for a page have the result", async () => {
    const session = Session.inMemory();
    await play([[call("card")], "Done."], cards()).agent.send("Go", { session });
    for (const form of ["ai-sdk", "openai-chat", "openai-responses", "anthropic"] as const) {
      const messages = JSON.stringify(await session.toMessages(form));
      expect(messages, form).toContain(TEXT);
      expect(messages, form).not.toContain(CARD);
    }
    expect(JSON.stringify(await session.toMessages("ai-sdk-ui"))).toContain(CARD);
    expect(JSON.stringify(session.state)).toContain(CARD);
  });

  test.each<[string, Partial<Tool>, string]>([
    [
      "an error",
      {
        toModelOutput: () => {
          throw new Error("no such mask");
        },
      },
      "The tool ran, but its toModelOutput failed, so you do not get the result: no such mask",
    ],
    ["a rejection", { toModelOutput: () => Promise.reject(new Error("no mask")) }, "no mask"],
    [
      "a value that is no text",
      { toModelOutput: () => ({ card: CARD }) as never },
      "it returned an object in place of a text",
    ],
  ])("L6: %s of it goes to the model in place of the result", async (_, more, sentence) => {
    const { agent, model } = play([[call("card")], "Done."], cards(more));
    const session = Session.inMemory();
    await agent.send("Go", { session });
    expect(resultsIn(model.requests[1] as ModelRequest)).toEqual([expect.stringContaining(sentence)]);
    expect(JSON.stringify(model.requests)).not.toContain(CARD);
    expect(callIn(session.state, { call: "call_1" })).toMatchObject({
      status: "completed",
      output: expect.stringContaining(CARD),
    });
  });

  test("L6: a failed call gives the model its error, and does not ask for a text", async () => {
    const failing = cards({
      execute: () => {
        throw new Error("no customer");
      },
    });
    const { agent, model } = play([[call("card")], "Done."], failing);
    await agent.send("Go");
    expect(resultsIn(model.requests[1] as ModelRequest)).toEqual(["The tool failed: no customer"]);
  });

  test("L6: texts of hooks, changed arguments and repetitions reach the model too", async () => {
    const scenes = [...Array.from({ length: 5 }, (): Scene => [call("card")]), "Done."];
    const { agent, model } = play(scenes, cards(), { hooks: { afterCall: () => "Read the manual." } });
    await agent.send("Go");
    const results = resultsIn(model.requests.at(-1) as ModelRequest);
    expect(results[0]).toBe(`${TEXT}\n\nRead the manual.`);
    expect(results[4]).toContain(`${TEXT}\n\nRead the manual.\n\n[Banyan: this call has had the same result 5 times`);

    const asking = play([[call("card")], "Done."], cards(), { permission: () => ({ decision: "ask" }) });
    const session = Session.inMemory();
    const { questions } = await asking.agent.send("Go", { session, untilAsked: true });
    await asking.agent.answer(questions[0]?.id ?? "", { decision: "allow", input: { customer: "Bo" } }, { session });
    expect(resultsIn(asking.model.requests.at(-1) as ModelRequest)).toEqual([
      '(The user changed the arguments to {"customer":"Bo"}.)\nBo (Bo) has a card ending in 4242.',
    ]);
  });

  test("L6: maxOutput bounds the text; an eager call has one too", async () => {
    const long = cards({ eager: true, maxOutput: 100, toModelOutput: () => "long ".repeat(100) });
    const { agent, model } = play([[call("card")], "Done."], long);
    await agent.send("Go");
    const [text = ""] = resultsIn(model.requests[1] as ModelRequest);
    expect(text).toMatch(/^long long/);
    expect(text.length).toBeLessThan(250);
  });

  test("L6: a loop that runs whole turns gets the text of the agent's tools", async () => {
    const results: string[] = [];
    const usage = { input: 1, output: 1, cached: 0, cacheWrite: 0, reasoning: 0 };
    const loop: LoopDriver = {
      id: "remote/agent",
      family: "remote",
      async run(_, sink) {
        const model = await sink.begin();
        const index = 0;
        model.push([
          { type: "call", index, id: "c", tool: "card" },
          { type: "call-input", index, text: "{}" },
          { type: "call-end", index },
          { type: "finish", reason: "calls", usage },
        ]);
        for (const { id } of await sink.complete()) results.push((await sink.execute(id)).output);
        (await sink.begin()).push([
          { type: "text", text: "Done." },
          { type: "finish", reason: "stop", usage },
        ]);
        await sink.complete();
      },
    };
    await new Agent({ model: loop, tools: [cards()] }).send("Go");
    expect(results).toEqual([TEXT]);
  });

  test("L6: model output has the types of the tool, and a copy of the tool may return another value", () => {
    const tool = defineTool({
      name: "count",
      description: "Counts.",
      input: z.object({ days: z.number().default(3) }),
      effects: "none",
      execute: async ({ days }) => ({ days, total: days * 2 }),
      toModelOutput(output, input) {
        expectTypeOf(output).toEqualTypeOf<{ days: number; total: number }>();
        expectTypeOf(input).toEqualTypeOf<{ days: number }>();
        return `${output.total}`;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<Tool<{ days: number }, { days: number; total: number }>>();
    const changed = defineTool({ ...tool, input: { type: "object" }, execute: () => 7 });
    expectTypeOf(changed).toEqualTypeOf<Tool<unknown, number>>();
    const wrong = () =>
      // @ts-expect-error A text is needed.
      defineTool({ ...tool, execute: () => 7, toModelOutput: (output) => output });
    expectTypeOf(wrong).toBeFunction();
    expect(() => defineTool({ ...tool, toModelOutput: "short" as never })).toThrow("toModelOutput");
  });
});

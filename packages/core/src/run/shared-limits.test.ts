import { expect, test, vi } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { resume, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { addUsage, noUsage, totalTokens } from "../conversation/usage.ts";
import { defineTool } from "../ports/define-tool.ts";
import { Session } from "../session/session.ts";
import { call, collect, finishTask, readUntil, type Scene, scriptedModel, spend, text } from "../testing/index.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { stopTheClock } from "./clock.fixture.ts";
import type { Limits } from "./limits.ts";

const PRICE = { input: 100_000, output: 100_000 };

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});

/** An agent whose handler adds this many turns, like a hook that does not let the agent stop. */
function sentOn(times: number, options: AgentOptions): Agent {
  let added = 0;
  return new Agent({
    tools: [look],
    ...options,
    onTurn: (_, agent, { reason }) =>
      ["answered", "finished"].includes(reason) && added++ < times
        ? agent.chat(say("Not yet."), { sharesLimits: true })
        : undefined,
  });
}

/** Each turn takes two steps, of 10 cents each. */
function steady(end: (request: number) => Scene = () => [spend({ input: 1 }), text("Done.")]) {
  const script = ({ toolChoice }: { toolChoice?: unknown }, index: number): Scene =>
    toolChoice === "none" || index % 2 === 1 ? end(index) : [spend({ input: 1 }), call("look", { index })];
  return scriptedModel(script, { price: PRICE });
}

const ends = (items: readonly (FeedItem | Event)[]) => items.filter((item) => item.type === "run.ended");

test("F100: turns that a handler adds count in usage, cost and steps, and the handler's turn includes them", async () => {
  const turns: unknown[] = [];
  const agent = sentOn(2, { model: steady() });
  const { onTurn } = agent.options;
  const told = agent.with({
    onTurn: (conversation, self, turn) => {
      turns.push([turn.steps, turn.usage.input, turn.cost]);
      return onTurn?.(conversation, self, turn);
    },
  });
  const items = await collect(told.chat(say("Go")));
  const all = [
    [2, 2, 0.2],
    [4, 4, 0.4],
    [6, 6, 0.6],
  ];
  expect(turns.map((turn) => (turn as number[]).map((n) => Math.round(n * 100) / 100))).toEqual(all);
  expect(ends(items).map(({ spent }) => [spent?.steps, spent?.usage.input])).toEqual(all.map(([a, b]) => [a, b]));
});

test.each<[string, Limits, number, string]>([
  ["steps", { steps: 3 }, 4, "the limit of 3 steps"],
  ["cost", { cost: 0.45 }, 4, "the limit of $0.45"],
  ["tokens", { tokens: 4 }, 4, "the limit of 4 tokens"],
])("F100: a limit of %s covers them, and ends them", async (_, limits, asked, limit) => {
  const model = steady();
  const items = await collect(sentOn(5, { model, limits }).chat(say("Go")));
  expect(model.asked).toBe(asked);
  expect(ends(items).at(-1)).toMatchObject({ reason: "limit", limit });
});

test("F100: a limit of time covers them, and the handler's time counts too", async () => {
  stopTheClock();
  const agent = sentOn(5, { model: scriptedModel(() => "Done."), limits: { time: 100 } });
  const { onTurn } = agent.options;
  const slow = agent.with({
    onTurn(...turn) {
      vi.advanceTimersByTime(60);
      return onTurn?.(...turn);
    },
  });
  const items = await collect(slow.chat(say("Go")));
  expect(ends(items).map(({ reason }) => reason)).toEqual(["answered", "answered", "limit"]);
});

test("F100: turns added to a task share its limits, and the last result is the task's", async () => {
  const model = scriptedModel([[finishTask("one")], [finishTask("two")], [finishTask("three")]]);
  const items = await collect(sentOn(9, { model, mode: "task", limits: { steps: 2 } }).chat(say("Go")));
  expect(ends(items)).toMatchObject([
    { reason: "finished", spent: { steps: 1 } },
    { reason: "finished", spent: { steps: 2 } },
    { reason: "limit", spent: { steps: 2 } },
  ]);
});

test("F100: a user's permission beyond a limit covers them too", async () => {
  const session = Session.inMemory();
  const chat = sentOn(1, { model: steady(), limits: { steps: 1, policy: "ask" } }).chat(say("Go"), { session });
  let asked = 0;
  for await (const item of chat) {
    if (item.type !== "run.paused") continue;
    asked++;
    expect(item.reason).toBe(`The turn reached the limit of ${asked} ${asked === 1 ? "step" : "steps"}.`);
    await session.answer(item.question, { decision: "allow" });
  }
  expect(asked).toBe(3);
});

test("F100: a turn that waits for a user keeps counting in another process from the end of the turn before", async () => {
  const events: Event[] = [];
  const session = await Session.open(storeOf(events), "x");
  const permission = ({ input }: { input: unknown }) =>
    JSON.stringify(input).includes("ask") ? ({ decision: "ask" } as const) : ({ decision: "allow" } as const);
  const scenes: Scene[] = [[call("look")], "Done.", [call("look", { ask: true })]];
  const first = sentOn(1, { model: scriptedModel(scenes, { price: PRICE }), permission, limits: { steps: 4 } });
  const feed = first.chat(say("Go"), { session })[Symbol.asyncIterator]();
  await readUntil(feed, (item) => item.type === "call.approval-requested");
  await session.close();
  const next = await Session.open(storeOf(events), "x");
  await next.answer(next.openQuestions[0]?.id ?? "", { decision: "allow" });
  const model = scriptedModel([[call("look", { again: 1 })], "In short."], { price: PRICE });
  const items = await collect(
    new Agent({ model, tools: [look], permission, limits: { steps: 4 } }).chat(resume(), { session: next }),
  );
  expect(ends(items)).toMatchObject([{ reason: "limit", limit: "the limit of 4 steps", spent: { steps: 4 } }]);
  await next.close();
});

test("F100: a chat that a handler returns without sharing has limits of its own", async () => {
  const model = scriptedModel(["One.", "Two.", "Three."]);
  const lines = ["two", "three"];
  const agent = new Agent({
    model,
    limits: { steps: 1 },
    onTurn: (_, self) => {
      const line = lines.shift();
      return line === undefined ? undefined : self.chat(say(line));
    },
  });
  const items = await collect(agent.chat(say("one")));
  expect(ends(items).map(({ reason, spent }) => [reason, spent?.steps])).toEqual(Array(3).fill(["answered", 1]));
});

test("F100: a user's message during an added turn begins a turn with limits of its own", async () => {
  const session = Session.inMemory();
  let queued: Promise<unknown> | undefined;
  const model = scriptedModel((_, index) => {
    if (index === 1) queued = session.say("And?", { delivery: "queue" });
    return "Done.";
  });
  const items = await collect(sentOn(1, { model, limits: { steps: 2 } }).chat(say("Go"), { session }));
  await queued;
  expect(ends(items).map(({ reason, spent }) => [reason, spent?.steps])).toEqual([
    ["answered", 1],
    ["answered", 2],
    ["answered", 1],
  ]);
});

// The judge counts the requests to the model, and knows nothing about budgets.
test("F100: 60 random chains of turns exceed no limit, and the last sum is that of all model calls", async () => {
  let seed = 100;
  const below = (n: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * n);
  };
  for (let round = 0; round < 60; round++) {
    const limits: Limits = [{ steps: 1 + below(8) }, { tokens: 20 + below(200) }, { cost: 0.002 + below(20) / 1_000 }][
      below(3)
    ] as Limits;
    let asked = 0;
    let used = noUsage;
    const dear = 1 + below(9);
    const model = scriptedModel(
      ({ toolChoice }, index): Scene => {
        if (toolChoice !== "none") asked++;
        const usage = { input: dear, output: dear };
        used = addUsage(used, { ...noUsage, ...usage });
        return toolChoice === "none" || below(2) === 0
          ? [spend(usage), text("Done.")]
          : [spend(usage), call("look", { index })];
      },
      { price: { input: 100, output: 100 } },
    );
    const items = await collect(sentOn(below(6), { model, limits }).chat(say("Go")));
    const last = ends(items).at(-1);
    expect(last?.spent, JSON.stringify({ round, limits })).toMatchObject({ steps: asked, usage: used });
    expect(asked).toBeLessThanOrEqual(limits.steps ?? Number.POSITIVE_INFINITY);
    expect(totalTokens(used)).toBeLessThanOrEqual(limits.tokens ?? Number.POSITIVE_INFINITY);
    expect(last?.spent?.cost ?? 0).toBeLessThanOrEqual((limits.cost ?? Number.POSITIVE_INFINITY) + 1e-9);
    expect(last?.spent?.cost).toBeCloseTo(totalTokens(used) * 1e-4, 9);
  }
});

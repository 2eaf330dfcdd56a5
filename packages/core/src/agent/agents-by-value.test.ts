import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import type { Event } from "../conversation/event.ts";
import { OptionError } from "../conversation/option-names.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import type { Permit } from "../ports/verdict.ts";
import { stopTheClock } from "../run/clock.fixture.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import {
  type Beat,
  call,
  fail,
  finishTask,
  type Script,
  scriptedModel,
  spend,
  stall,
  text,
} from "../testing/scripted-model.ts";
import { launch, resultsIn } from "../turn/launch.fixture.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { launchAgent } from "./control/launch-agent.ts";
import { resume, say } from "./directive.ts";

const count = z.object({ trees: z.number(), since: z.iso.date().transform((day) => new Date(`${day}T00:00:00Z`)) });
type Count = z.output<typeof count>;
const written = { trees: 3, since: "2026-11-29" };
const counted: Count = { trees: 3, since: new Date("2026-11-29T00:00:00Z") };

const allow: AgentOptions["hooks"] = { beforeCall: () => ({ decision: "allow" }) };
const deny: AgentOptions["hooks"] = {
  beforeCall: ({ tool }) => (tool.name === "act" ? { decision: "deny", reason: "No." } : undefined),
};

function toolOf(name: string, effects: "none" | "external" = "none") {
  const runs: string[] = [];
  const tool = defineTool({
    name,
    description: "Acts.",
    input: { type: "object" },
    effects,
    execute: (_, { agent }) => void runs.push(agent),
  });
  return { tool, runs };
}

/** An array for `storeOf`, and its lengths after each commit with or after the start of a run. */
function recordedEvents() {
  const whole: Event[] = [];
  const commits: number[] = [];
  whole.push = (...more) => {
    for (const event of more) whole[whole.length] = event;
    if (whole.some(({ type }) => type === "run.started")) commits.push(whole.length);
    return whole.length;
  };
  return { whole, commits };
}

/** Number of earlier responses in a request. */
const round = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === "assistant").length;
const rounds =
  (...scenes: readonly (string | readonly Beat[])[]): Script =>
  (request) =>
    scenes[round(request)];

function counterOf(script: Script, options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script);
  const agent = new Agent({ name: "counter", description: "Counts trees.", model, compaction: false, ...options });
  return { model, agent };
}

/** Both ways to give a task to an agent by value. */
const ways = [
  {
    way: "launchAgent",
    toolsFor: (agent: Agent<unknown>): readonly Tool[] => [launchAgent({ agents: [agent] })],
    ask: (task: string) => launch(task, { agent: "counter" }),
  },
  {
    way: "asTool",
    toolsFor: (agent: Agent<unknown>): readonly Tool[] => [agent.asTool()],
    ask: (task: string) => call("counter", { task }),
  },
] as const;

describe.each(ways)("an agent by value with $way", ({ toolsFor, ask }) => {
  /** An agent that gives a task to the other agent, and then answers "Done.". */
  function mainOf(agent: Agent<unknown>, options: Partial<AgentOptions> = {}) {
    const model = scriptedModel(rounds([ask("Count.")], "Done."));
    return new Agent({ name: "main", model, tools: toolsFor(agent), compaction: false, ...options });
  }

  test("L3: works in its own mode with its own model, instructions, tools and settings, and its name is in the feed", async () => {
    const session = Session.inMemory();
    const { tool, runs } = toolOf("look");
    const { agent, model } = counterOf(rounds([call("look")], "Three."), {
      instructions: "Count twice.",
      tools: [tool],
      settings: { temperature: 0.5 },
    });
    const items = await collect(mainOf(agent, { instructions: "Delegate." }).chat(say("Go"), { session }));
    expect(resultsIn(session)).toEqual(["Three."]);
    expect(model.requests[0]).toMatchObject({ instructions: "Count twice.", settings: { temperature: 0.5 } });
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["look"]);
    expect(runs).toEqual(["counter"]);
    const started = items.filter((item) => item.type === "run.started");
    expect(started).toMatchObject([{ agent: "main" }, { agent: "counter", call: "call_1", mode: "chat" }]);
    expect(items.some((item) => item.type === "text.delta" && item.agent === "counter" && item.depth === 1)).toBe(true);
    expect(items.find((item) => item.type === "call.pending")).toMatchObject({ about: { agent: "counter" } });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test.each([
    ["chat", JSON.stringify(written)],
    ["task", [finishTask(written)]],
  ] as const)("L3: in %s mode, gives the result of its schema, with transforms", async (mode, scene) => {
    const session = Session.inMemory();
    const { agent } = counterOf(rounds(scene));
    await mainOf(agent.with({ output: count, mode })).send("Go", { session });
    expect(resultsIn(session)).toEqual([JSON.stringify(counted)]);
  });

  test("L3: has the context of its launcher, unless it has a context of its own", async () => {
    const seen: unknown[] = [];
    const { tool } = toolOf("look");
    const looking = { ...tool, execute: (_: unknown, { context }: { context: unknown }) => void seen.push(context) };
    const { agent } = counterOf(rounds([call("look")], "Three."), { tools: [looking] });
    await mainOf(agent, { context: { user: "ada" } }).send("Go");
    await mainOf(agent.with({ context: { user: "bob" } }), { context: { user: "ada" } }).send("Go");
    expect(seen).toEqual([{ user: "ada" }, { user: "bob" }]);
  });

  test("L3: fails alone, and its launcher reads the reason", async () => {
    const session = Session.inMemory();
    const { agent } = counterOf(rounds([text("One"), fail("quota")]));
    expect(await mainOf(agent).send("Go", { session })).toMatchObject({ reason: "answered", text: "Done." });
    expect(resultsIn(session)).toEqual(["The tool failed: the sub-agent failed: scripted: quota Its last text:\nOne"]);
    const wrong = agent.with({ model: scriptedModel(["No JSON.", "Still none."]), output: count });
    const other = Session.inMemory();
    await mainOf(wrong).send("Go", { session: other });
    expect(resultsIn(other)[0]).toMatch(/^The tool failed: the sub-agent failed: The response does not match/);
  });

  test("L3: spends from the turn's limits, and its usage is in the turn", async () => {
    const { agent } = counterOf(() => [call("look"), spend({ input: 100 })], { tools: [toolOf("look").tool] });
    const session = Session.inMemory();
    const turn = await mainOf(agent, { limits: { tokens: 1_000 } }).send("Go", { session });
    expect(turn.usage.input).toBeGreaterThan(500);
    expect(turn.usage.input).toBeLessThanOrEqual(1_000);
    expect(resultsIn(session)[0]).toMatch(/^The sub-agent reached the limit of 1000 tokens before it was done\./);
  });

  test("L3: has limits of its own for its own usage, below those of the turn", async () => {
    const { tool } = toolOf("look");
    const script = () => [call("look"), spend({ input: 100 })];
    for (const [limits, reached, most] of [
      [{ tokens: 600 }, "600 tokens", 602],
      [{ steps: 2 }, "2 steps", 302],
      [{ tokens: 5_000 }, "1000 tokens", 1_000],
    ] as const) {
      const { agent } = counterOf(script, { tools: [tool], limits });
      const session = Session.inMemory();
      const turn = await mainOf(agent, { limits: { tokens: 1_000 } }).send("Go", { session });
      expect(resultsIn(session)[0]).toContain(`reached the limit of ${reached}`);
      expect(turn.usage.input).toBeLessThanOrEqual(most);
      expect(turn.reason).toBe(most === 1_000 ? "limit" : "answered");
    }
  });

  test("L3: has a time limit of its own, and waits for users stop both clocks", async () => {
    stopTheClock();
    const session = Session.inMemory();
    const tool = { ...toolOf("look").tool, execute: () => void vi.advanceTimersByTime(700) };
    const script = scriptedModel(({ toolChoice }) => (toolChoice === "none" ? "Late." : [call("look")]));
    const { agent } = counterOf([], { model: script, tools: [tool], limits: { time: 2_000 } });
    let asked = 0;
    const permission = () => ({ decision: asked++ === 1 ? "ask" : "allow" }) as Permit;
    for await (const item of mainOf(agent, { limits: { time: 60_000 }, permission }).chat(say("Go"), { session })) {
      if (item.type !== "call.approval-requested") continue;
      vi.advanceTimersByTime(10_000);
      await session.answer(item.question, { decision: "allow" });
    }
    expect(resultsIn(session)).toEqual([
      "The sub-agent reached the limit of 2 s before it was done. Its last text:\nLate.",
    ]);
    expect(script.requests.filter(({ toolChoice }) => toolChoice !== "none")).toHaveLength(3);
    expect(session.state.lastRunEnd).toBe("answered");
  });

  test("L3: at its own limits of cost and depth", async () => {
    const model = scriptedModel(() => [call("look"), spend({ input: 1 })], { price: { input: 100_000, output: 0 } });
    const { agent } = counterOf([], { model, tools: [toolOf("look").tool], limits: { cost: 0.35 } });
    const session = Session.inMemory();
    await mainOf(agent).send("Go", { session });
    expect(resultsIn(session)[0]).toContain("reached the limit of $0.35");
    expect(session.state.usage.input - 2).toBeLessThanOrEqual(3);
    const deeper = counterOf(rounds([launch("Count.")], "Three."), { tools: [launchAgent()], limits: { depth: 0 } });
    const other = Session.inMemory();
    await mainOf(deeper.agent).send("Go", { session: other });
    expect(JSON.stringify([...other.state.messages.values()])).toContain("sub-agents are switched off");
  });

  test("L3: needs the permission of both agents", async () => {
    const allow: Permit = { decision: "allow" };
    const deny: Permit = { decision: "deny", reason: "no" };
    for (const [outer, own, ran] of [
      [undefined, deny, 0],
      [deny, undefined, 0],
      [deny, allow, 0],
      [allow, deny, 0],
      [allow, allow, 1],
      [{ decision: "ask" }, allow, 0],
      [allow, { decision: "ask" }, 0],
    ] as const) {
      const { tool, runs } = toolOf("look");
      const judge = (permit: Permit | undefined) =>
        permit && { permission: ({ tool }: { tool: Tool }) => (tool.name === "look" ? permit : allow) };
      const { agent } = counterOf(rounds([call("look")], "Three."), { tools: [tool], ...judge(own) });
      await mainOf(agent, { unattended: true, ...judge(outer) }).send("Go");
      expect(runs).toHaveLength(ran);
    }
  });

  test("L3: ends with an interrupt of the turn", async () => {
    const session = Session.inMemory();
    const { agent } = counterOf(() => [text("Counting"), stall()]);
    const chat = mainOf(agent).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "text.delta" && item.text === "Counting");
    expect(session.interrupt()).toBe(2);
    expect(await readUntil(chat, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L3: asks a user, who answers after a restart of the process", async () => {
    const events: Event[] = [];
    const { tool, runs } = toolOf("send", "external");
    const { agent } = counterOf(rounds([call("send")], JSON.stringify(written)), {
      tools: [tool],
      permission: ({ tool }) => ({ decision: tool.name === "send" ? "ask" : "allow" }),
    });
    const main = mainOf(agent.with({ output: count }));
    const open = () => Session.open(storeOf(events), "trees", { create: true });
    const first = await open();
    const asked = await main.send("Go", { session: first, untilAsked: true });
    expect([asked.reason, asked.questions.length]).toEqual(["waiting", 1]);
    await first.close();
    await using session = await open();
    const turn = await main.answer(asked.questions[0]?.id ?? "", { decision: "allow" }, { session });
    expect([turn.text, runs, resultsIn(session)]).toEqual(["Done.", ["counter"], [JSON.stringify(counted)]]);
  });

  test.each(["chat", "task"] as const)("L3: in %s mode, continues after a crash at any event", async (mode) => {
    const { whole, commits } = recordedEvents();
    const { tool } = toolOf("look");
    const last = mode === "chat" ? JSON.stringify(written) : [finishTask(written)];
    const { agent, model } = counterOf(rounds([call("look")], last), { tools: [tool], mode });
    const main = mainOf(agent.with({ output: count }));
    const session = await Session.open(storeOf(whole), "trees", { create: true });
    await main.send("Go", { session });
    await session.close();
    const done = whole.findIndex((event) => event.type === "run.ended");
    const end = whole.findLastIndex(({ type }) => type === "message.started");
    expect(commits.length).toBeGreaterThan(8);
    for (const length of commits.filter((length) => length <= end)) {
      const events = whole.slice(0, length);
      await using again = await Session.open(storeOf(events), "trees");
      const before = model.requests.length;
      const turn = await main.chat(resume(), { session: again }).turn;
      expect([turn.text, resultsIn(again)]).toEqual(["Done.", [JSON.stringify(counted)]]);
      // A finished sub-agent does not run again.
      if (length > done) expect(model.requests).toHaveLength(before);
      expect(checkConversation(again.state)).toEqual([]);
    }
  });
});

describe("the type of an agent as a tool", () => {
  test("L3: is that of the agent's result", () => {
    const { agent } = counterOf([]);
    expectTypeOf(agent.with({ output: count }).asTool()).toEqualTypeOf<Tool<{ readonly task: string }, Count>>();
    const tools: readonly Tool[] = [agent.with({ output: count }).asTool({ name: "count" })];
    expectTypeOf(tools).items.toEqualTypeOf<Tool>();
    expectTypeOf(agent.with({ output: count })).toExtend<Agent<unknown>>();
    launchAgent({ agents: [agent, agent.with({ output: count, name: "typed" })] });
    // @ts-expect-error A tool is no agent.
    expect(() => launchAgent({ agents: [tools[0]] })).toThrow(OptionError);
  });

  test("L3: three agents work at the same time, within one budget and with checked results", async () => {
    const session = Session.inMemory();
    const { agent } = counterOf(() => [text(JSON.stringify(written)), spend({ input: 50 })]);
    const counter = agent.with({ output: count, limits: { tokens: 200 } });
    const tasks = ["figs", "oaks", "elms"].map((what) => call("count_trees", { task: `Count the ${what}.` }));
    const total = z.object({ trees: z.number() });
    const main = new Agent({
      model: scriptedModel(rounds(tasks, JSON.stringify({ trees: 9 }))),
      tools: [counter.asTool({ name: "count_trees", description: "Counts one kind of trees." })],
      output: total,
      limits: { tokens: 500 },
    });
    const { result, usage } = await main.send("How many trees?", { session });
    expectTypeOf(result).toEqualTypeOf<{ trees: number }>();
    expect([result, usage.input]).toEqual([{ trees: 9 }, 152]);
    expect(resultsIn(session)).toEqual(tasks.map(() => JSON.stringify(counted)));
  });
});

describe("an agent by value is refused", () => {
  const { agent } = counterOf([]);
  const nameless = agent.with({ name: undefined });
  const silent = agent.with({ description: undefined });

  test("L3: without a name, without a description, and with the name of another agent", () => {
    expect(() => launchAgent({ agents: [nameless] })).toThrow(
      'launchAgent: agents[0] needs a name: new Agent({ name: "researcher", ... }).',
    );
    expect(() => launchAgent({ agents: [agent, silent] })).toThrow(
      'launchAgent: the agent "counter" needs a description: new Agent({ description: "Finds facts.", ... }).',
    );
    const named = { name: "counter", description: "Counts.", instructions: "Count." };
    expect(() => launchAgent({ agents: [agent, named] })).toThrow(
      'launchAgent: two agents have the name "counter"; rename one.',
    );
    const model = scriptedModel([]) as unknown as string;
    expect(() => launchAgent({ agents: [{ ...named, model }] })).toThrow(
      "launchAgent: agents[0].model must be the name of a model. Pass new Agent({ ... }) for an agent with a model of its own.",
    );
    expect(() => launchAgent({ agents: [{ ...named, tool: [] } as typeof named] })).toThrow("agents[0].tools");
  });

  test("L3: as a tool without a name or a description, or with a name that no tool can have", () => {
    expect(() => nameless.asTool()).toThrow(
      'asTool: the tool needs a name. Pass a name, as in { name: "researcher" }.',
    );
    expect(() => agent.with({ name: "Tree Counter" }).asTool()).toThrow(
      'asTool: "Tree Counter" cannot name a tool. Pass a name, as in { name: "Tree_Counter" }.',
    );
    expect(() => silent.asTool()).toThrow('asTool: the agent "counter" needs a description');
    expect(silent.asTool({ description: "Counts." })).toMatchObject({ name: "counter", description: "Counts." });
    expect(() => agent.asTool({ nam: "x" } as object)).toThrow("nam is no option of asTool; did you mean name?");
  });

  test("L3: with tools that it does not have, and by a tool that launches no agent", async () => {
    const session = Session.inMemory();
    const odd = defineTool({
      name: "odd",
      description: "Launches no agent.",
      input: { type: "object" },
      effects: "none",
      execute: (_, context) => context.launch({ task: "Go", agent: { name: "x" } }),
    });
    const model = scriptedModel(rounds([launch("Count.", { agent: "counter", tools: ["dig"] }), call("odd")], "Done."));
    await new Agent({ model, tools: [launchAgent({ agents: [agent] }), odd] }).send("Go", { session });
    expect(resultsIn(session)).toEqual([
      'The tool failed: Not launched: the agent "counter" has no tool dig. It has: none.',
      "The tool failed: The agent of a task must be an Agent: new Agent({ ... }).",
    ]);
  });
});

test.each<[string, AgentOptions["hooks"], AgentOptions["hooks"], number]>([
  ["a denial of the outer agent", deny, allow, 0],
  ["a denial of its own", allow, deny, 0],
  ["two hooks that allow", allow, allow, 1],
])("L3: the hooks of both agents decide about a call: %s", async (_, outer, hooks, ran) => {
  const act = toolOf("act", "external");
  const inner = new Agent({ name: "inner", model: scriptedModel([[call("act")], "Done."]), tools: [act.tool], hooks });
  const model = scriptedModel([[call("inner", { task: "Act." })], "Done."]);
  await new Agent({ model, tools: [inner.asTool({ description: "Acts." })], hooks: outer }).send("Go");
  expect(act.runs).toHaveLength(ran);
});

import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { handOff } from "../agent/control/hand-off.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { resume, retry, say } from "../agent/directive.ts";
import { TurnError } from "../agent/turn-error.ts";
import type { Event } from "../conversation/event.ts";
import { type AssistantMessage, textOf } from "../conversation/message.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Goal, GoalFinding } from "../ports/goal.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { call, fail, type Script, scriptedModel, text } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";

const finish = (result: string) => [call("finish_task", { result })];

/** A box with a number, a tool that adds to the number, and a goal for the number. */
function counting(wanted: number, options: Partial<Goal> = {}) {
  const box = { number: 0, begun: 0, checked: [] as number[] };
  const add = defineTool({
    name: "add",
    description: "Adds to the number.",
    input: { type: "object", properties: { by: { type: "number" } } },
    effects: "external",
    execute: (input: unknown) => {
      box.number += (input as { by: number }).by;
      return `The number is ${box.number}.`;
    },
  });
  const run = (): GoalFinding => {
    box.checked.push(box.number);
    return box.number === wanted ? { passed: true } : { passed: false, why: `It is ${box.number}.` };
  };
  const goal: Goal = {
    checks: [{ what: `the number is ${wanted}`, begin: () => box.begun++, run }],
    ...options,
  };
  const agent = (script: Script, more: Partial<AgentOptions> = {}) =>
    new Agent({ model: scriptedModel(script), tools: [add], goal, ...more });
  return { box, add, goal, agent };
}

const checksIn = (events: readonly { readonly type: string }[]) =>
  events.filter((event): event is Extract<Event, { type: "goal.checked" }> => event.type === "goal.checked");

async function eventsOf(agent: Agent, session: Session): Promise<Event[]> {
  const items = await collect(agent.chat(say("Go."), { session }));
  return items.filter((item): item is Event => "seq" in item);
}

describe("a turn with a goal", () => {
  test("E12: is done when all checks pass after the last change, and the log has the checks", async () => {
    const { box, agent } = counting(3);
    const session = Session.inMemory();
    const events = await eventsOf(agent([[call("add", { by: 3 })], "Done."]), session);
    expect(checksIn(events)).toMatchObject([
      { outcome: "done", times: 0, results: [{ what: "the number is 3", passed: true }] },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "run.ended", reason: "answered" });
    expect(events.find(({ type }) => type === "run.started")).toMatchObject({ goal: { checks: ["the number is 3"] } });
    expect(box).toEqual({ number: 3, begun: 1, checked: [3] });
    checkConversation(session.state);
  });

  test("E13: a failed check goes back to the model with its reason, and a false claim counts for nothing", async () => {
    const { box, agent } = counting(2);
    const session = Session.inMemory();
    const script = ["All tests pass.", [call("add", { by: 1 })], "Now they pass.", [call("add", { by: 1 })], "Done."];
    const turn = await agent(script).send("Go.", { session });
    expect(turn).toMatchObject({ reason: "answered", text: "Done." });
    expect(box.checked).toEqual([0, 1, 2]);
    const notes = [...session.state.messages.values()].filter((one) => one.role === "user" && one.author === "system");
    expect(notes.map(textOf)).toEqual([expect.stringContaining("It is 0."), expect.stringContaining("It is 1.")]);
    checkConversation(session.state);
  });

  test.each([
    ["chat", (text: string) => text],
    ["task", (text: string) => finish(text)],
  ] as const)("E13: in %s mode the same failure three times ends the goal as not done", async (mode, end) => {
    const { box, agent } = counting(9);
    const session = Session.inMemory();
    const sending = agent([end("Done."), end("Done!"), end("Done!!"), end("Done!!!")], { mode }).send("Go.", {
      session,
    });
    const error = await sending.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TurnError);
    expect(error).toMatchObject({ code: "goal", message: expect.stringContaining("the number is 9 (It is 0.)") });
    expect(box.checked).toEqual([0, 0, 0]);
    expect([...session.state.broken.values()]).toMatchObject([{ reason: "failed", code: "goal" }]);
    checkConversation(session.state);
  });

  test("E13: failures that differ do not end the goal, and durations make no difference", async () => {
    const whys = ["2 failed in 12 ms", "1 failed in 9 ms", "1 failed in 10 ms", "1 failed in 1.2 s"];
    const goal: Goal = { checks: [{ what: "tests", run: () => ({ passed: false, why: whys.shift() ?? "none" }) }] };
    const agent = new Agent({ model: scriptedModel(["1", "2", "3", "4", "5"]), goal });
    await expect(agent.send("Go.")).rejects.toMatchObject({ code: "goal", turn: { text: "4" } });
  });

  test("E14: a change in the same answer as the end of the task is checked", async () => {
    const { box, agent } = counting(1);
    const script: Script = [
      [call("add", { by: 1 }), call("finish_task", { result: "Done." }), call("add", { by: 1 })],
      [call("add", { by: -1 })],
      finish("Really."),
    ];
    const turn = await agent(script, { mode: "task" }).send("Go.");
    expect(turn).toMatchObject({ reason: "finished", result: "Really." });
    expect(box.checked.at(-1)).toBe(1);
    expect(box.number).toBe(1);
  });

  test("E14: a background command ends before the checks, so it cannot change anything afterwards", async () => {
    const box = { number: 1, runs: false };
    const over = Promise.withResolvers<{ outcome: string }>();
    const watch = defineTool({
      name: "watch",
      description: "Starts a process.",
      input: { type: "object" },
      effects: "external",
      execute: async (_, { stay }) => {
        box.runs = true;
        const end = () => {
          box.runs = false;
          over.resolve({ outcome: "ended" });
        };
        return `It is ${await stay({ title: "breaks it later", end, over: over.promise })}.`;
      },
    });
    const goal: Goal = { checks: [{ what: "nothing runs", run: () => ({ passed: !box.runs }) }] };
    const turn = await new Agent({ model: scriptedModel([[call("watch")], "Done."]), tools: [watch], goal }).send(
      "Go.",
    );
    expect(turn.reason).toBe("answered");
  });

  test("E12: runs the last check only if the others pass, and an error of a check is a failure", async () => {
    const ran: string[] = [];
    let isBroken = true;
    const goal: Goal = {
      checks: [
        {
          what: "works",
          run() {
            ran.push("works");
            if (isBroken) throw new Error("the runner is missing");
            return { passed: true };
          },
        },
        { what: "judge", last: true, run: () => ({ passed: ran.push("judge") > 0 }) },
      ],
    };
    const model = scriptedModel(["One.", "Two."]);
    const agent = new Agent({
      model,
      goal,
      callbacks: { onInterjection() {}, onMessage: () => (isBroken = ran.length === 0) },
    });
    const session = Session.inMemory();
    await agent.send("Go.", { session });
    expect(ran).toEqual(["works", "works", "judge"]);
    const note = [...session.state.messages.values()].find((one) => one.role === "user" && one.author === "system");
    expect(note && textOf(note)).toContain("the runner is missing");
  });

  test("E13: the limits of the turn end the goal as not done", async () => {
    const { box, agent } = counting(100);
    const adds: Script = Array.from({ length: 9 }, () => [[call("add", { by: 1 })], "Done."]).flat();
    const session = Session.inMemory();
    const turn = await agent(adds, { limits: { steps: 4 } }).send("Go.", { session });
    expect(turn.reason).toBe("limit");
    expect(box.checked).toEqual([1, 2]);
  });

  test("E12: the time of the turn also bounds its checks", async () => {
    const goal: Goal = { checks: [{ what: "waits", run: () => new Promise<never>(() => {}) }] };
    const turn = await new Agent({ model: scriptedModel(["Done."]), goal, limits: { time: 200 } }).send("Go.");
    expect(turn.reason).toBe("limit");
  });

  test("E12: tokens and cost of a judge count as usage of the turn and of the conversation", async () => {
    const usage = { input: 10, cached: 0, cacheWrite: 0, output: 5, reasoning: 0 };
    const goal: Goal = {
      checks: [
        {
          what: "it is polite",
          async run({ count, answer }) {
            await count("judge/model", usage, 0.5);
            return { passed: answer === "Please." };
          },
        },
      ],
    };
    const session = Session.inMemory();
    const price = { input: 0, output: 0 };
    const turn = await new Agent({ model: scriptedModel(["Please."], { price }), goal }).send("Go.", { session });
    expect(turn.cost).toBe(0.5);
    expect(session.state.cost).toBe(0.5);
  });
});

describe("a goal and another model", () => {
  /** Runs a turn whose goal needs two answers of model `b`, and returns the models of its answers. */
  async function modelsOf(script: Script, more: Partial<AgentOptions>) {
    const session = Session.inMemory();
    const change = defineTool({
      name: "change",
      description: "Changes the model, as a user does.",
      input: { type: "object" },
      effects: "none",
      execute: async () => {
        await session.commit([{ type: "model.changed", model: "b" }]);
        return "changed";
      },
    });
    const b = { ...scriptedModel(["Once.", "Twice."]), id: "b" };
    const goal: Goal = { checks: [{ what: "said twice", run: ({ answer }) => ({ passed: answer === "Twice." }) }] };
    const model = { ...scriptedModel(script), id: "a" };
    const agent = new Agent({ model, tools: [change], modelNamed: async () => b, goal, ...more });
    expect(await agent.send("Go.", { session })).toMatchObject({ text: "Twice." });
    const answers = [...session.state.messages.values()].filter(
      (one): one is AssistantMessage => one.role === "assistant",
    );
    return answers.map(({ model: id }) => id);
  }

  test("E13: after a failed check, the turn keeps the fallback that replaced its unavailable model", async () => {
    const script: Script = [[fail("overloaded")], "By a."];
    expect(await modelsOf(script, { fallbacks: ["b"], retry: { attempts: 1 } })).toEqual(["b", "b"]);
  });

  test("E13: after a failed check, the turn keeps the model that a user chose meanwhile", async () => {
    expect(await modelsOf([[call("change")], "By a."], {})).toEqual(["a", "b", "b"]);
  });

  test("E13: another answer to a message whose turn broke off has the same goal, with the same beginning", async () => {
    const { box, agent } = counting(1);
    const session = Session.inMemory();
    const broken = agent([[call("add", { by: 0 })], [text("Half"), fail("overloaded")]], { retry: { attempts: 1 } });
    await expect(broken.send("Go.", { session })).rejects.toMatchObject({ code: "overloaded" });
    const [before] = [...session.state.broken.values()];
    const again = agent(["Done.", [call("add", { by: 1 })], "Done."]);
    const items = await collect(again.chat(retry(), { session }));
    expect(items.find(({ type }) => type === "run.started")).toMatchObject({ goal: { id: before?.goal?.id } });
    expect(items.at(-2)).toMatchObject({ type: "run.ended", reason: "answered" });
    expect(box).toEqual({ number: 1, begun: 1, checked: [0, 1] });
    checkConversation(session.state);
  });
});

describe("a goal with several agents", () => {
  test("E13: a sub-agent has its own goal, and does not inherit that of its parent", async () => {
    const { box, add, goal } = counting(2);
    const worker = new Agent({
      name: "worker",
      description: "Counts.",
      mode: "task",
      model: scriptedModel([finish("It is 2."), [call("add", { by: 2 })], finish("Now it is 2.")]),
      tools: [add],
      goal,
    });
    const model = scriptedModel([[call("worker", { task: "Count to 2." })], "Done."]);
    const session = Session.inMemory();
    const turn = await new Agent({ model, tools: [worker.asTool()] }).send("Go.", { session });
    expect(turn.text).toBe("Done.");
    expect(box.checked).toEqual([0, 2]);
    const parent = counting(1);
    const launching = scriptedModel([
      [call("launch_agent", { task: "Say hello." })],
      finish("Hello."),
      [call("add", { by: 1 })],
      "Done.",
    ]);
    await new Agent({ model: launching, tools: [launchAgent(), parent.add], goal: parent.goal }).send("Go.");
    expect(parent.box.checked).toEqual([1]);
  });

  test("E14: an agent that takes over the turn has the goal, with its beginning before the hand-off", async () => {
    const { box, add, goal } = counting(1);
    const other = new Agent({
      name: "other",
      description: "Writes.",
      model: scriptedModel(["Done.", [call("add", { by: 1 })], "Done."]),
      tools: [add],
    });
    const model = scriptedModel([[call("hand_off_to_other", {})]]);
    const first = new Agent({ model, tools: [handOff(other)], goal });
    const tool = first.options.tools?.[0]?.name ?? "";
    const agent = first.with({ model: scriptedModel([[call(tool, {})]]) });
    const session = Session.inMemory();
    const turn = await agent.send("Go.", { session });
    expect(turn.text).toBe("Done.");
    expect(box).toEqual({ number: 1, begun: 1, checked: [0, 1] });
  });
});

describe("a goal after a restart", () => {
  /** Plays a turn whose goal needs two rounds, and returns its log. */
  async function wholeLog(mode: "chat" | "task") {
    const events: Event[] = [];
    const end = (text: string) => (mode === "chat" ? text : finish(text));
    const script: Script = [end("Done."), [call("add", { by: 1 })], end("Done again.")];
    const { agent } = counting(1);
    await agent(script, { mode }).send("Go.", { session: await Session.open(storeOf(events), "x", { create: true }) });
    return events;
  }

  test.each(["chat", "task"] as const)(
    "E13: wherever its process stops in %s mode, the turn is not done before its checks have passed",
    async (mode) => {
      const whole = await wholeLog(mode);
      const end = (text: string) => (mode === "chat" ? text : finish(text));
      for (let kept = 1; kept < whole.length; kept++) {
        const events = structuredClone(whole.slice(0, kept));
        const last = events.at(-1);
        // A failure and its message for the model are one commit.
        if (last?.type === "goal.checked" && last.outcome === "open") continue;
        if (!events.some(({ type }) => type === "run.started")) continue;
        const session = await Session.open(storeOf(events), "x");
        const state = `after ${kept} events, the last ${events[kept - 1]?.type}`;
        expect([...session.state.broken.values()], state).toMatchObject([{ reason: "interrupted" }]);
        const { agent, box } = counting(1, { failures: 5 });
        const id = whole.find((event) => event.type === "run.started")?.goal?.id;
        const next = agent([end("I am done."), [call("add", { by: 1 })], end("Done.")], { mode });
        const items = await collect(next.chat(resume(), { session }));
        expect(
          items.find((item) => item.type === "run.started"),
          state,
        ).toMatchObject({ goal: { id } });
        expect(checksIn(items as Event[]).at(-1), state).toMatchObject({ outcome: "done" });
        expect(
          items.findLast((item) => item.type === "run.ended"),
          state,
        ).toMatchObject({
          reason: mode === "chat" ? "answered" : "finished",
        });
        expect(box, state).toMatchObject({ number: 1, begun: 0 });
      }
    },
  );

  test("E13: a sub-agent whose process stopped after its claim is checked", async () => {
    const events: Event[] = [];
    const make = (own: Script, sub: Script) => {
      const { add, goal, box } = counting(1);
      const model = scriptedModel(sub);
      const worker = new Agent({ name: "worker", description: "Counts.", mode: "task", model, tools: [add], goal });
      return { box, agent: new Agent({ model: scriptedModel(own), tools: [worker.asTool()] }) };
    };
    const first = make(
      [[call("worker", { task: "Count." })], "Done."],
      [finish("It is 1."), [call("add", { by: 1 })], finish("1")],
    );
    await first.agent.send("Go.", { session: await Session.open(storeOf(events), "x", { create: true }) });
    const claimed = events.findIndex((event) => event.type === "call.completed" && event.tool === "finish_task");
    const kept = structuredClone(events.slice(0, claimed + 1));
    const session = await Session.open(storeOf(kept), "x");
    const second = make(["Done."], [[call("add", { by: 1 })], finish("1")]);
    await collect(second.agent.chat(resume(), { session }));
    expect(second.box.checked).toEqual([0, 1]);
  });

  test("E13: a user who continues a goal that failed allows the same failures again", async () => {
    const { box, agent } = counting(1, { failures: 2 });
    const session = Session.inMemory();
    await agent(["1", "2"])
      .send("Go.", { session })
      .catch(() => {});
    expect(box.checked).toHaveLength(2);
    await collect(agent(["3", [call("add", { by: 1 })], "4"]).chat(resume(), { session }));
    expect(box.checked).toEqual([0, 0, 0, 0, 1]);
    expect(session.state.lastRunEnd).toBe("answered");
  });
});

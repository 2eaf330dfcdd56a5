import { describe, expect, test } from "vitest";
import { askClient } from "../agent/control/ask-client.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { resume, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { letPass, stopTheClock } from "../run/clock.fixture.ts";
import { Session } from "../session/session.ts";
import {
  call,
  checkConversation,
  collect,
  finishTask,
  readUntil,
  type Scene,
  scriptedModel,
  spend,
  stall,
  text,
} from "../testing/index.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { agentOf, ENDS, ended, goneOn, Started } from "./end-of-waiting.fixture.ts";

const results = (events: readonly Event[]) =>
  events.filter(({ type }) => /^call\.(completed|failed|denied|cancelled)$/.test(type)).length;

const outputs = (session: Session) =>
  [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls.map(({ output }) => output) : [],
  );

describe.each(ENDS)("F72: a turn that waits for a user survives the end of its process (%s)", (end) => {
  test("an approval: no result, the same question, and the call runs once after the answer", async () => {
    const started = new Started();
    const waiting = { scenes: [[call("send")]], tools: [started.tool("send", "external")], asks: ["send"] };
    const { events, open } = await ended(waiting, end);
    expect(results(events)).toBe(0);
    const looking = await Session.open(storeOf(structuredClone(events)), "x");
    expect(looking.openQuestions).toEqual(open);
    expect(looking.state.runs.size).toBe(0);
    expect(looking.interrupted).toEqual([]);
    expect([...looking.state.waiting.values()]).toMatchObject([{ agent: "agent", mode: "chat" }]);

    const { session } = await goneOn(events, waiting, ["Sent."], [{ decision: "allow" }]);
    expect(started.names).toEqual(["send"]);
    expect(outputs(session)).toEqual(["send done"]);
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["Go", "", "Sent."]);
    expect(session.state.waiting.size).toBe(0);
    expect(events.filter(({ type }) => type === "call.approval-requested")).toHaveLength(1);
  });

  test("a denial is the result, and a question that was left unanswered is answered in the next process", async () => {
    const started = new Started();
    const waiting = {
      scenes: [[call("send"), call("send")]],
      tools: [started.tool("send", "external")],
      asks: ["send"],
    };
    const { events, open } = await ended(waiting, end, { questions: 2 });
    const session = await Session.open(storeOf(events), "x");
    await session.answer(open[0]?.id ?? "", { decision: "deny", reason: "no" });
    const chat = agentOf(waiting, scriptedModel(["Half."]))
      .chat(resume(), { session })
      [Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "run.started");
    await session.answer(open[1]?.id ?? "", { decision: "allow" });
    await readUntil(chat, (item) => item.type === "chat.ended");
    expect(outputs(session)).toEqual(["The user denied this call: no", "send done"]);
    expect(started.names).toEqual(["send"]);
    expect(checkConversation(session.state, events)).toEqual([]);
  });

  test("a running sibling is interrupted as usual, and the waiting call stays", async () => {
    const started = new Started();
    const slow = started.tool("slow", "external", (_, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    const tools = [started.tool("send", "external"), slow];
    const waiting = { scenes: [[call("send"), call("slow")]], tools, asks: ["send"] };
    const { events } = await ended(waiting, end, {
      before: async () => {
        while (!started.names.includes("slow")) await new Promise(setImmediate);
      },
    });
    const { session } = await goneOn(events, waiting, ["Done."], [{ decision: "allow" }]);
    expect(outputs(session)[0]).toBe("send done");
    expect(outputs(session)[1]).toMatch(end === "kill" ? /took effect is unknown/ : /^Stopped: /);
    expect(started.names).toEqual(["slow", "send"]);
  });

  test("a call's text question is answered in another process, and the answer is its result", async () => {
    const waiting = {
      scenes: [[call("ask_client", { question: "Which?", default_answer: "red" })]],
      tools: [askClient()],
    };
    const { events } = await ended(waiting, end);
    expect(results(events)).toBe(0);
    const { session } = await goneOn(events, waiting, ["Blue it is."], [{ decision: "answer", text: "blue" }]);
    expect(outputs(session)).toEqual(["blue"]);
  });

  test("a limit: a yes continues the turn with the same amount again, counted from the log", async () => {
    const started = new Started();
    const limits = { steps: 2, policy: "ask" } as const;
    const scenes = [[call("look")], [call("look", { n: 2 })]];
    const waiting = { scenes, tools: [started.tool("look", "none")], limits };
    const { events, open } = await ended(waiting, end);
    expect(open).toMatchObject([{ type: "limit", reason: "The turn reached the limit of 2 steps." }]);
    const more = [[call("look", { n: 3 })], [call("look", { n: 4 })], "Enough."];
    const session = await Session.open(storeOf(events), "x");
    expect(session.openQuestions).toMatchObject([{ id: open[0]?.id, type: "limit" }]);
    await session.answer(open[0]?.id ?? "", { decision: "allow" });
    const model = scriptedModel(more);
    const chat = agentOf(waiting, model).chat(resume(), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "run.paused");
    expect(session.openQuestions).toMatchObject([{ reason: "The turn reached the limit of 4 steps." }]);
    expect(model.requests).toHaveLength(2);
    await session.answer(session.openQuestions[0]?.id ?? "", { decision: "deny" });
    const over = await readUntil(chat, (item) => item.type === "run.ended");
    expect(over).toMatchObject({ reason: "limit", spent: { steps: 4 } });
  });

  test("a limit: a no is not asked again, and the turn ends with its last text", async () => {
    const started = new Started();
    const limits = { steps: 1, policy: "ask" } as const;
    const waiting = { scenes: [[call("look")]], tools: [started.tool("look", "none")], limits };
    const { events } = await ended(waiting, end);
    const { items } = await goneOn(events, waiting, ["As far as I came."], [{ decision: "deny" }]);
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "limit" });
    expect(items.some(({ type }) => type === "run.paused")).toBe(false);
  });

  test("a sub-agent that waits: the launching call stays open, and the whole chain continues", async () => {
    const started = new Started();
    const tools = [launchAgent(), started.tool("send", "external")];
    const scenes = [[call("launch_agent", { task: "Send it.", expected_output: "none" })], [call("send")]];
    const waiting = { scenes, tools, asks: ["send"] };
    const { events } = await ended(waiting, end);
    expect(results(events)).toBe(0);
    const after = [[finishTask("It is sent.")], "All done."];
    const { session } = await goneOn(events, waiting, after, [{ decision: "allow" }]);
    expect(started.names).toEqual(["send"]);
    expect(outputs(session)).toContain("It is sent.");
    const runs = events.filter((event) => event.type === "run.started");
    expect(runs.map((run) => run.continues)).toEqual([undefined, undefined, runs[0]?.run, runs[1]?.run]);
    expect(pathTo(session.state, session.state.leaf).map(textOf).at(-1)).toBe("All done.");
  });

  test("text for the waiting turn is delivered: a steer before the next model call, a queued text after the turn", async () => {
    const started = new Started();
    const waiting = { scenes: [[call("send")]], tools: [started.tool("send", "external")], asks: ["send"] };
    const { events } = await ended(waiting, end, {
      before: async (session) => {
        await session.say("Hurry.");
        await session.say("And then?", { delivery: "queue" });
      },
    });
    const { session } = await goneOn(events, waiting, ["Sent.", "Nothing."], [{ decision: "allow" }]);
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual([
      "Go",
      "",
      "Hurry.",
      "Sent.",
      "And then?",
      "Nothing.",
    ]);
  });

  test("steps, tokens and money count on, over more than one process", async () => {
    const started = new Started();
    const tools = [started.tool("send", "external")];
    const step = (n: number): Scene => [spend({ input: 1_000, output: 10 }), call("send", { n })];
    const waiting = { scenes: [step(1)], tools, asks: ["send"], limits: { tokens: 5_000 } };
    let { events } = await ended(waiting, end);
    for (const n of [2, 3]) {
      const session = await Session.open(storeOf(events), "x");
      await session.answer(session.openQuestions[0]?.id ?? "", { decision: "allow" });
      const feed = agentOf(waiting, scriptedModel([step(n)]))
        .chat(resume(), { session })
        [Symbol.asyncIterator]();
      await readUntil(feed, (item) => item.type === "call.approval-requested");
      const left = structuredClone(events);
      if (end === "leave") await feed.return?.();
      await session.close();
      if (end === "kill") events = left;
    }
    const { items } = await goneOn(events, waiting, [[spend({ input: 1 }), text("Over.")]], [{ decision: "allow" }]);
    expect(items.findLast(({ type }) => type === "run.ended")).toMatchObject({
      reason: "limit",
      limit: "the limit of 5000 tokens",
      spent: { steps: 3, usage: { input: 3_001, output: 30 } },
    });
  });

  test("a user ends the wait: the waiting call does not run, and nobody can answer any more", async () => {
    const started = new Started();
    const waiting = { scenes: [[call("send")]], tools: [started.tool("send", "external")], asks: ["send"] };
    const { events, open } = await ended(waiting, end);
    const session = await Session.open(storeOf(events), "x");
    expect(session.interrupt()).toBe(1);
    await session.close();
    const next = await Session.open(storeOf(events), "x");
    expect(checkConversation(next.state, events)).toEqual([]);
    expect(outputs(next)).toEqual(["Not executed: interrupted by the user."]);
    expect(next.state.waiting.size).toBe(0);
    await expect(next.answer(open[0]?.id ?? "", { decision: "allow" })).rejects.toMatchObject({ code: "no-question" });
    expect(started.names).toEqual([]);
  });
});

describe("F72: the clock of a turn", () => {
  test("stops during a question about a call, and during a call's text question", async () => {
    stopTheClock();
    const started = new Started();
    const tools = [started.tool("send", "external"), askClient()];
    const scenes = [[call("send")], [call("ask_client", { question: "Which?" })], "Done."];
    const waiting = { scenes, tools, asks: ["send"], limits: { time: 1_000 } };
    const session = Session.inMemory();
    const turn = collect(agentOf(waiting, scriptedModel(scenes)).chat(say("Go"), { session }));
    for (const answer of [{ decision: "allow" }, { decision: "answer", text: "red" }] as const) {
      while (session.openQuestions.length === 0) await new Promise(setImmediate);
      letPass(3_600_000);
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      await session.answer(session.openQuestions[0]?.id ?? "", answer);
    }
    expect((await turn).at(-1)).toMatchObject({ reason: "answered" });
  });

  test.each(["kill", "close"] as const)(
    "counts on in the next process, without the days between them (%s)",
    async (end) => {
      const started = new Started();
      const waiting = {
        scenes: [[call("send")]],
        tools: [started.tool("send", "external")],
        asks: ["send"],
        limits: { time: 10_000 },
      };
      const { events } = await ended(waiting, end);
      // The turn worked for 5 s before it asked.
      const asked = events.findIndex(({ type }) => type === "call.approval-requested");
      const worked = events.map((event, index) => ({ ...event, at: event.at + (index >= asked ? 5_000 : 0) }));
      stopTheClock();
      const session = await Session.open(storeOf(worked), "x");
      await session.answer(session.openQuestions[0]?.id ?? "", { decision: "allow" });
      const model = scriptedModel([[stall()], "As far as I came."]);
      const turn = collect(agentOf(waiting, model).chat(resume(), { session }));
      while (model.requests.length === 0) await new Promise(setImmediate);
      letPass(2_000);
      for (let wait = 0; wait < 5; wait++) await new Promise(setImmediate);
      expect(model.requests).toHaveLength(1);
      letPass(2_500);
      expect((await turn).at(-1)).toMatchObject({ reason: "limit" });
      expect(model.requests).toHaveLength(2);
    },
  );
});

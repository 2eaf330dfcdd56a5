import { describe, expect, test, vi } from "vitest";
import { askClient } from "../agent/control/ask-client.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { say } from "../agent/directive.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { type AssistantMessage, textOf } from "../conversation/message.ts";
import { leaves, pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver, ModelRequest } from "../ports/model.ts";
import { stopTheClock } from "../run/clock.fixture.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import { call, fail, finishTask, scriptedModel, spend, stall, text } from "../testing/scripted-model.ts";
import { act, agentOf, launch, resultsIn } from "./launch.fixture.ts";

const isSummary = ({ messages }: ModelRequest) => JSON.stringify(messages.at(-1)).includes("Sum up the conversation");

describe("a sub-agent", () => {
  test("B41: works in a conversation of its own below the call, in the same log and feed, and its result is the call's", async () => {
    const session = Session.inMemory();
    const { agent, model } = agentOf((task, n) => {
      if (task === "Go") return n === 0 ? [launch("Count the trees.")] : "There are three.";
      return n === 0 ? [text("Looking."), call("act")] : [finishTask("three")];
    });
    const items: FeedItem[] = await collect(agent.chat(say("Go"), { session }));
    expect(resultsIn(session)).toEqual(["three"]);
    const [launching] = [...session.state.messages.values()].filter(
      (m) => m.role === "assistant",
    ) as AssistantMessage[];
    const [root = ""] = session.state.children.get(launching?.calls[0]?.id ?? "") ?? [];
    expect(session.state.messages.get(root)).toMatchObject({ parentId: null, call: "call_1", author: "tool" });
    expect(items.some((item) => item.type === "text.delta" && item.text === "Looking.")).toBe(true);
    const runs = items.filter((item) => item.type === "run.started");
    expect(runs).toMatchObject([{ mode: "chat" }, { mode: "task", call: "call_1" }]);
    // The sub-agent's messages do not affect the user's own conversation.
    expect(leaves(session.state)).toHaveLength(1);
    expect(session.state.leaf).toBe(leaves(session.state)[0]);
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["Go", "", "There are three."]);
    expect(session.state.lastRunEnd).toBe("answered");
    expect(checkConversation(session.state)).toEqual([]);
    const own = model.requests[1];
    expect(own?.messages).toHaveLength(1);
    expect(own?.tools.map(({ name }) => name)).toEqual(["act", "launch_agent", "finish_task", "ask_client"]);
  });

  test("B41, F24: works beside others, and their costs are in the totals of turn and conversation", async () => {
    const session = Session.inMemory();
    let atOnce = 0;
    let most = 0;
    const meet = Promise.withResolvers<void>();
    const wait = defineTool({
      name: "wait",
      description: "Waits for the others.",
      input: { type: "object" },
      effects: "none",
      async execute() {
        most = Math.max(most, ++atOnce);
        if (atOnce === 4) meet.resolve();
        await meet.promise;
        atOnce--;
      },
    });
    const { agent } = agentOf(
      (task, n) => {
        if (task === "Go")
          return n === 0
            ? ["a", "b", "c", "d"].map((name) => launch(name))
            : [spend({ input: 10, output: 1 }), text("ok")];
        return n === 0
          ? [call("wait"), spend({ input: 100, output: 7 })]
          : [finishTask(`${task} is done`), spend({ input: 200, output: 9 })];
      },
      { tools: [launchAgent(), wait] },
    );
    const turn = await agent.send("Go", { session });
    expect(most).toBe(4);
    expect(resultsIn(session)).toEqual(["a is done", "b is done", "c is done", "d is done"]);
    expect(turn.usage).toMatchObject({ input: 1 + 10 + 4 * 300, output: 1 + 1 + 4 * 16 });
    expect(session.state.usage).toEqual(turn.usage);
  });

  test("F23: in a tree of 1 + 4 + 16, one stalls until it is stopped, one fails, and all other results arrive", async () => {
    const session = Session.inMemory();
    const { agent } = agentOf(
      (task, n) => {
        if (task === "Go") return n === 0 ? [0, 1, 2, 3].map((i) => launch(`child ${i}`)) : "all told";
        const child = /^child (\d)$/.exec(task)?.[1];
        if (child !== undefined)
          return n === 0 ? [0, 1, 2, 3].map((i) => launch(`leaf ${child}${i}`)) : [finishTask(`${task} is done`)];
        if (task === "leaf 12") return [text("so far so good"), stall()];
        if (task === "leaf 30") return [text("oh"), fail("quota")];
        return [finishTask(`${task} is done`)];
      },
      { limits: { steps: 5 } },
    );
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "text.delta" && item.text === "so far so good");
    const stalled = [...session.state.runs.values()].find(({ leaf }) => {
      const message = leaf === null ? undefined : session.state.messages.get(leaf);
      return message?.role === "assistant" && textOf(message) === "so far so good";
    });
    expect(session.interrupt(stalled?.id)).toBe(1);
    await readUntil(chat, (item) => item.type === "chat.ended");
    expect(resultsIn(session)).toEqual([0, 1, 2, 3].map((i) => `child ${i} is done`));
    const told = [...session.state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []));
    const outputs = told.filter(({ tool }) => tool === "launch_agent").map(({ output }) => output);
    expect(outputs).toHaveLength(20);
    expect(outputs.filter((output) => output?.endsWith(" is done"))).toHaveLength(18);
    expect(outputs.find((output) => output?.includes("stopped"))).toBe(
      "The tool failed: the sub-agent was stopped before it was done. Its last text:\nso far so good",
    );
    expect(outputs.find((output) => output?.includes("scripted"))).toBe(
      "The tool failed: the sub-agent failed: scripted: quota Its last text:\noh",
    );
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("F23: at the greatest depth does the work itself", async () => {
    const session = Session.inMemory();
    const { agent } = agentOf(
      (task, n) => (n === 0 ? [launch(`${task}+`)] : task === "Go" ? "end" : [finishTask(`${task} done`)]),
      { limits: { depth: 2 } },
    );
    await agent.send("Go", { session });
    const outputs = [...session.state.messages.values()].flatMap((m) => (m.role === "assistant" ? m.calls : []));
    expect(outputs.map(({ output }) => output)).toContain(
      "The tool failed: Not launched: sub-agents may be nested 2 deep, and this is level 2. Do the task yourself.",
    );
    expect(resultsIn(session)).toEqual(["Go+ done"]);
  });

  test("invariant 10: tokens are one pool of the whole tree", async () => {
    const session = Session.inMemory();
    const { agent } = agentOf(
      (task, n) => {
        if (task === "Go") return n === 0 ? [launch("dig"), spend({ input: 10 })] : [text("end"), spend({ input: 10 })];
        return [call("act"), spend({ input: 100 })];
      },
      { limits: { tokens: 1000, steps: 100 } },
    );
    const turn = await agent.send("Go", { session });
    expect(turn.usage.input).toBeLessThanOrEqual(1000);
    expect(resultsIn(session)[0]).toMatch(/^The sub-agent reached the limit of 1000 tokens before it was done\./);
    expect(turn.reason).toBe("limit");
  });

  test("invariant 10: that begins with many others takes no room of another, and one without room says so at once", async () => {
    const session = Session.inMemory();
    const names = [..."abcdefghijkl"];
    const { agent, model } = agentOf(
      (task) => [...(task === "Go" ? names.map((name) => launch(name)) : [call("act")]), spend({ input: 100 })],
      { limits: { tokens: 1000, steps: 100 } },
    );
    const turn = await agent.send("Go", { session });
    expect(turn.usage.input).toBeLessThanOrEqual(1000);
    expect(turn.usage.input).toBe(100 * model.asked);
    const cutShort =
      "The sub-agent reached the limit of 1000 tokens before it was done. The sub-agent had written no text yet.";
    expect(resultsIn(session).slice(0, names.length)).toEqual(names.map(() => cutShort));
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B41: is steered by itself, and its approvals reach the same users", async () => {
    const session = Session.inMemory();
    const { agent, model } = agentOf(
      (task, n) => {
        if (task === "Go") return n === 0 ? [launch("dig")] : "end";
        return n === 0 ? [call("act")] : [finishTask("dug")];
      },
      { permission: ({ tool }) => ({ decision: tool.name === "act" ? "ask" : "allow" }) },
    );
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    const asked = await readUntil(chat, (item) => item.type === "call.approval-requested");
    const child = [...session.state.runs.values()].find((run) => run.call !== undefined);
    await session.say([{ type: "text", text: "Dig on the left." }], { run: child?.id ?? "" });
    if (asked.type === "call.approval-requested") await session.answer(asked.question, { decision: "allow" });
    await readUntil(chat, (item) => item.type === "chat.ended");
    const heard = model.requests.map(({ messages }) => messages.at(-1));
    expect(
      heard.some(
        (message) =>
          message?.role === "user" && message.parts.some((p) => p.type === "text" && p.text === "Dig on the left."),
      ),
    ).toBe(true);
    expect(resultsIn(session)).toEqual(["dug"]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("B13: with a question to a user stops the time of the whole tree", async () => {
    stopTheClock();
    const session = Session.inMemory();
    const scene = (task: string, n: number) => {
      if (task === "Go") return n === 0 ? [launch("dig"), launch("delve")] : "end";
      return n === 0 ? [call("act")] : [finishTask(`${task} is done`)];
    };
    const limits = { steps: 1, time: 10_000, policy: "ask" } as const;
    const { agent } = agentOf(scene, { limits });
    const questions: string[] = [];
    for await (const item of agent.chat(say("Go"), { session })) {
      if (item.type !== "run.paused") continue;
      questions.push(item.question);
      if (questions.length === 2) {
        for (const question of questions) {
          await vi.advanceTimersByTimeAsync(60_000);
          await session.answer(question, { decision: "allow" });
        }
      }
      if (questions.length > 2) await session.answer(item.question, { decision: "allow" });
    }
    expect(resultsIn(session)).toEqual(["dig is done", "delve is done"]);
    expect(session.state.lastRunEnd).toBe("answered");
  });

  test("has the tools, the instructions and the model that it is given", async () => {
    const other = scriptedModel([[finishTask("by another")]], { id: "scripted/other" });
    const thinking: ModelDriver = Object.assign(other, { settings: { effort: "high", maxTokens: 100 } as const });
    const named = {
      name: "digger",
      description: "digs",
      instructions: "You dig.",
      model: "other",
      tools: ["act"],
    };
    const tools = [act, launchAgent({ agents: [named], resolveModel: async () => thinking })];
    const session = Session.inMemory();
    const { agent } = agentOf((_, n) => (n === 0 ? [launch("dig", { agent: "digger" })] : "end"), {
      tools,
      settings: { temperature: 0.5, maxTokens: 50 },
    });
    await agent.send("Go", { session });
    expect(resultsIn(session)).toEqual(["by another"]);
    expect(other.requests[0]?.settings).toEqual({ effort: "high", temperature: 0.5, maxTokens: 50 });
    expect(other.requests[0]?.instructions).toMatch(/^You dig\.\n\nYou work on a task/);
    expect(other.requests[0]?.tools.map(({ name }) => name)).toEqual(["act", "finish_task", "ask_client"]);
  });

  test("S17: by a name has no tool that the agent of this name lacks", async () => {
    const reader = { name: "reader", description: "reads", instructions: "You read.", tools: ["act"] };
    const tools = [act, launchAgent({ agents: [reader] })];
    const session = Session.inMemory();
    const asked = { agent: "reader", tools: ["act", "launch_agent"] };
    const { agent } = agentOf((_, n) => (n === 0 ? [launch("read", asked)] : "end"), { tools });
    await agent.send("Go", { session });
    expect(resultsIn(session)).toEqual([
      expect.stringContaining('the agent "reader" has no tool launch_agent. It has: act.'),
    ]);
  });

  test("B42: keeps to the context of the model that it is given", async () => {
    const session = Session.inMemory();
    const small: ModelDriver = {
      ...scriptedModel((request, index) =>
        isSummary(request) ? "It dug." : index < 9 ? [call("act"), spend({ input: 900 })] : [finishTask("dug")],
      ),
      contextSize: 1_000,
    };
    const tools = [act, launchAgent({ resolveModel: async () => small })];
    const { agent } = agentOf((_, n) => (n === 0 ? [launch("dig", { model: "small" })] : "end"), {
      tools,
      compaction: { contextSize: 1_000_000 },
    });
    await agent.send("Go", { session });
    expect(resultsIn(session)).toEqual(["dug"]);
    const summaries = [...session.state.messages.values()].filter(({ role }) => role === "summary");
    expect(summaries.map(textOf)).toContain("It dug.");
  });

  test("B39: of an agent with a tool of task mode has the mode's tool", async () => {
    const session = Session.inMemory();
    const tools = [askClient(), launchAgent()];
    const scene = (task: string, n: number) =>
      task === "Go" ? (n === 0 ? [launch("dig")] : "end") : [finishTask("dug by asking nobody")];
    const { agent, model } = agentOf(scene, { tools });
    await agent.send("Go", { session });
    expect(resultsIn(session)).toEqual(["dug by asking nobody"]);
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(["launch_agent", "finish_task", "ask_client"]);
  });

  test("is not launched with a tool that its agent lacks", async () => {
    const session = Session.inMemory();
    const { agent } = agentOf((_, n) => (n === 0 ? [launch("dig", { tools: ["acts"] })] : "end"));
    await agent.send("Go", { session });
    expect(resultsIn(session)).toEqual(['The tool failed: Not launched: you have no tool "acts". Did you mean act?']);
  });
});

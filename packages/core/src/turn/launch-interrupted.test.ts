import { describe, expect, test } from "vitest";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { resume, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import type { ToolContext } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import { call, finishTask, stall, text } from "../testing/scripted-model.ts";
import { act, agentOf, launch, resultsIn, taskOf } from "./launch.fixture.ts";
import { storeOf } from "./store-of.fixture.ts";

describe("an interrupt", () => {
  test("B22: an interrupt of the turn ends its sub-agents too", async () => {
    const session = Session.inMemory();
    const { agent } = agentOf((task) => (task === "Go" ? [launch("dig"), launch("delve")] : [text("hm"), stall()]));
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "text.delta");
    const root = [...session.state.runs.values()].find((run) => run.call === undefined);
    session.interrupt(root?.id);
    await readUntil(chat, (item) => item.type === "chat.ended");
    expect(session.state.runs.size).toBe(0);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("T3: a second interrupt of the turn tells its calls to hurry", async () => {
    const session = Session.inMemory();
    const slow = {
      ...act,
      execute: (_: unknown, { hurry }: ToolContext) =>
        new Promise((resolve) => hurry.addEventListener("abort", () => resolve("now"))),
    };
    const tools = [slow, launchAgent()];
    const { agent } = agentOf((task) => (task === "Go" ? [launch("dig")] : [call("act")]), { tools });
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "call.executing" && session.state.runs.size === 2);
    const root = [...session.state.runs.values()].find((run) => run.call === undefined);
    session.interrupt(root?.id);
    session.interrupt(root?.id);
    await readUntil(chat, (item) => item.type === "chat.ended");
    const outputs = [...session.state.messages.values()].flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ output }) => output) : [],
    );
    expect(outputs).toContainEqual(expect.stringMatching(/Output until then:\nnow$/));
  });

  test("T3: one interrupt of the whole conversation tells no call to hurry", async () => {
    const session = Session.inMemory();
    let hurried: boolean | undefined;
    const slow = {
      ...act,
      execute: async (_: unknown, { signal, hurry }: ToolContext) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        await new Promise(setImmediate);
        hurried = hurry.aborted;
      },
    };
    const tools = [slow, launchAgent()];
    const { agent } = agentOf((task) => (task === "Go" ? [launch("dig")] : [call("act")]), { tools });
    const chat = agent.chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "call.executing" && session.state.runs.size === 2);
    expect(session.interrupt()).toBe(2);
    await readUntil(chat, (item) => item.type === "chat.ended");
    expect(hurried).toBe(false);
  });
});

describe("after a crash", () => {
  test("B41: a sub-agent continues with its parent, and a finished sub-agent does not run again", async () => {
    const log: Event[] = [];
    const store = storeOf(log);
    const first = await Session.open(store);
    const scene = (task: string, n: number) => {
      if (task === "Go") return n === 0 ? [launch("quick"), launch("slow")] : "end";
      if (task === "quick") return [finishTask("quick is done")];
      return n === 0 ? [call("act")] : [text("thinking"), stall()];
    };
    const { agent, model } = agentOf(scene);
    const chat = agent.chat(say("Go"), { session: first })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "text.delta" && item.text === "thinking");
    await expect.poll(() => log.map(({ type }) => type)).toContain("message.checkpoint");
    const found = log.slice();
    const asked = model.asked;

    const again = await Session.open(storeOf(found), first.id);
    const other = agentOf((task, n) => (task === "slow" ? [finishTask(`slow is done in round ${n}`)] : scene(task, n)));
    await collect(other.agent.chat(resume(), { session: again }));
    expect(resultsIn(again)).toEqual(["quick is done", "slow is done in round 2"]);
    expect(other.model.requests.map(taskOf)).toEqual(["slow", "Go"]);
    expect(asked).toBe(4);
    expect(checkConversation(again.state)).toEqual([]);
    first.interrupt();
    await readUntil(chat, (item) => item.type === "chat.ended");
  });
});

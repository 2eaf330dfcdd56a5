import { describe, expect, test, vi } from "vitest";
import type { Event } from "../conversation/event.ts";
import { isUserMessage, type Message, textOf } from "../conversation/message.ts";
import { emptyConversation } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { LoopDriver } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import {
  call,
  end,
  finishTask,
  reasoning,
  type Script,
  scriptedModel,
  stall,
  text,
} from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { launchAgent } from "./control/launch-agent.ts";
import { resume } from "./directive.ts";

const tool = (name: string) =>
  defineTool({ name, description: "", input: { type: "object" }, effects: "none", execute: () => `${name} ran` });
const tools = [tool("look"), tool("open")];

const choices = ({ requests }: { readonly requests: readonly ModelRequest[] }) =>
  requests.map(({ toolChoice }) => toolChoice);

function agentOf(script: Script, toolChoice: AgentOptions["toolChoice"], more: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script);
  return { model, agent: new Agent({ model, tools, toolChoice, ...more }) };
}

describe("toolChoice", () => {
  test.each([["required" as const], [{ tool: "open" }]])(
    "L6: %j forces the first call of each turn, and no later one",
    async (choice) => {
      const { model, agent } = agentOf([[call("open")], [call("look")], "Done.", [call("open")], "Again."], choice);
      const session = Session.inMemory();
      expect(await agent.send("Go", { session })).toMatchObject({ reason: "answered", text: "Done.", steps: 3 });
      expect(await agent.send("Go on", { session })).toMatchObject({ reason: "answered", text: "Again.", steps: 2 });
      expect(choices(model)).toEqual([choice, "auto", "auto", choice, "auto"]);
    },
  );

  test("L6: a call stays forced until the model makes it", async () => {
    // The provider pauses its own work first.
    const { model, agent } = agentOf([[text("Hm."), end("paused")], [call("open")], "Done."], "required");
    expect(await agent.send("Go")).toMatchObject({ reason: "answered", text: "Done." });
    expect(choices(model)).toEqual(["required", "required", "auto"]);
  });

  test("L6: none forbids all calls, and a call does not run", async () => {
    const { model, agent } = agentOf([[text("I look."), call("look")]], "none");
    const turn = await agent.send("Go");
    expect(turn).toMatchObject({ reason: "answered", text: "I look." });
    expect(turn.message?.calls).toMatchObject([{ tool: "look", status: "failed" }]);
    expect(model.requests[0]).toMatchObject({ toolChoice: "none", tools: [{ name: "look" }, { name: "open" }] });
  });

  test("L6: a response without the forced call fails the turn, and other calls do not run", async () => {
    const plain = agentOf([[reasoning("Hm."), text("No.")]], "required").agent.send("Go");
    await expect(plain).rejects.toMatchObject({
      code: "invalid-request",
      message:
        "scripted/model responded without calling a tool, which the agent's toolChoice forces; use a model that supports forced calls, or leave out toolChoice",
      turn: { text: "No.", steps: 1 },
    });
    const other = agentOf([[call("look")]], { tool: "open" }).agent.send("Go");
    await expect(other).rejects.toMatchObject({
      message: expect.stringContaining('scripted/model responded without calling "open"'),
      turn: {
        message: {
          calls: [{ tool: "look", status: "failed", output: 'Not executed before calling "open".' }],
        },
      },
    });
  });

  test("L6: a cut response is no missing call", async () => {
    const { agent } = agentOf([[text("Hm"), end("length")]], "required");
    expect(await agent.send("Go")).toMatchObject({ reason: "answered", text: "Hm" });
  });

  test("L6: a turn that another process continues does not force a second call", async () => {
    const events: Event[] = [];
    const session = () => Session.open(storeOf(events), "c", { create: true });
    const model = scriptedModel([[call("open")], "Done."]);
    const agent = new Agent({ model, tools, toolChoice: "required", permission: () => ({ decision: "ask" }) });
    const first = await session();
    const asked = await agent.send("Go", { session: first, untilAsked: true });
    await first.close();
    await using second = await session();
    const turn = await agent.answer(asked.questions[0]?.id ?? "", { decision: "allow" }, { session: second });
    expect(turn).toMatchObject({ reason: "answered", text: "Done." });
    expect(choices(model)).toEqual(["required", "auto"]);
  });

  /** The log of two turns, each steered before its first step and while its forced call runs. */
  async function steeredLog() {
    const events: Event[] = [];
    const commits: number[] = [];
    events.push = (...more) => {
      for (const event of more) events[events.length] = event;
      return commits.push(events.length);
    };
    await using session = await Session.open(storeOf(events), "c", { create: true });
    const steer = (text: string) => session.state.runs.size > 0 && session.say(text);
    const open = defineTool({ ...tool("open"), execute: async () => String(await steer("Shorter.")) });
    const recall = async () => {
      await steer("Now.");
      return [];
    };
    const memory = { store: { recall, remember: async () => {} } };
    const agent = new Agent({ model: scriptedModel(forced), tools: [open], toolChoice: "required", memory });
    await agent.send("Go", { session });
    await agent.send("Go on", { session });
    return { log: [...events], commits: commits.slice(0, -1) };
  }
  const forced: Script = ({ toolChoice }) => (toolChoice === "required" ? [call("open")] : "Done.");

  test("L6: a steered turn forces one call, also after a crash behind any commit", async () => {
    const { log, commits } = await steeredLog();
    const callsOf = (messages: readonly Message[]) =>
      messages.flatMap((message) => (message.role === "assistant" && message.calls.length > 0 ? ["call"] : []));
    const whole = emptyConversation("c");
    for (const event of log) reduce(whole, event);
    expect(callsOf([...whole.messages.values()])).toHaveLength(2);
    expect([...whole.messages.values()].filter(({ role }) => role === "user")).toHaveLength(6);
    let resumed = 0;
    for (const crash of commits) {
      await using session = await Session.open(storeOf(log.slice(0, crash)), "c", { create: true });
      const agent = new Agent({ model: scriptedModel(forced), tools, toolChoice: "required" });
      const ended = await agent.chat(resume(), { session }).turn.catch(({ code }) => code);
      if (ended === "nothing-to-resume") continue;
      const path = pathTo(session.state, session.state.leaf);
      const turns = path.filter((message) => isUserMessage(message) && textOf(message).startsWith("Go")).length;
      expect([crash, callsOf(path).length, textOf(path.at(-1) as Message)]).toEqual([crash, turns, "Done."]);
      resumed++;
    }
    expect(resumed).toBeGreaterThan(10);
  });

  test("L6: after a broken turn, a new message begins a turn with its own forced call, also after a crash", async () => {
    const events: Event[] = [];
    const first = await Session.open(storeOf(events), "c", { create: true });
    const model = scriptedModel([[call("open")], [stall()], [stall()]]);
    const agent = new Agent({ model, tools, toolChoice: "required" });
    for (const text of ["Go", "Go on"]) {
      const turn = agent.send(text, { session: first });
      await vi.waitFor(() => expect(model.asked).toBe(text === "Go" ? 2 : 3));
      if (text === "Go on") break;
      first.interrupt();
      await turn;
    }
    const log = [...events];
    await first.close();
    await using second = await Session.open(storeOf(log), "c");
    const again = agentOf(forced, "required");
    await again.agent.chat(resume(), { session: second }).turn;
    expect(choices(model)).toEqual(["required", "auto", "required"]);
    expect(choices(again.model)).toEqual(["required", "auto"]);
  });

  test("L6: a task may be forced to begin with a call; a sub-agent decides for itself", async () => {
    const script: Script = [
      [call("launch_agent", { task: "Look.", expected_output: "All." })],
      [finishTask("seen")],
      [finishTask("all seen")],
    ];
    const { model, agent } = agentOf(script, { tool: "launch_agent" }, { mode: "task", tools: [launchAgent()] });
    expect(await agent.send("Go")).toMatchObject({ reason: "finished", result: "all seen" });
    expect(choices(model)).toEqual([{ tool: "launch_agent" }, "auto", "auto"]);
  });

  test("L6: the builder sets it", async () => {
    const model = scriptedModel([[call("look")], "Done."]);
    await Agent.builder()
      .model(model)
      .tools(...tools)
      .toolChoice("required")
      .build()
      .send("Go");
    expect(choices(model)).toEqual(["required", "auto"]);
  });

  const loop: LoopDriver = { id: "acp/other", family: "loop", run: async () => {} };
  test.each<[string, unknown, Partial<AgentOptions>, string]>([
    [
      "an unknown word",
      "any",
      {},
      'toolChoice is "any"; it must be "auto", "none", "required" or the name of a tool: { tool: "search" }.',
    ],
    ["the bare name of a tool", "look", {}, 'toolChoice is "look"; it must be'],
    ["null", null, {}, "toolChoice is null; it must be"],
    ["an unknown tool", { tool: "lok" }, {}, 'but the agent has no tool "lok". Did you mean look?'],
    [
      "required without tools",
      "required",
      { tools: [] },
      "but the agent has no tools; give it tools, or leave it out.",
    ],
    ["none in a task", "none", { mode: "task" }, "but a task ends only with a call of finish_task; leave it out"],
    [
      "a loop that runs whole turns",
      "required",
      { model: loop },
      "but acp/other runs its own turns and chooses its tools",
    ],
  ])("L6: %s is refused before a model is called", async (_, choice, more, sentence) => {
    const { model, agent } = agentOf([], choice as AgentOptions["toolChoice"], more);
    await expect(agent.send("Go")).rejects.toMatchObject({
      name: "OptionError",
      message: expect.stringContaining(sentence),
    });
    expect(model.asked).toBe(0);
  });
});

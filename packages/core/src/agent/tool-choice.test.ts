import { describe, expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { LoopDriver } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { call, end, finishTask, reasoning, type Script, scriptedModel, text } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { launchAgent } from "./control/launch-agent.ts";

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

  test("L6: none forbids all calls, which then do not run", async () => {
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
        message: { calls: [{ tool: "look", status: "failed", output: 'Not executed: calling "open" was forced.' }] },
      },
    });
  });

  test("L6: a response that was cut is no missing call", async () => {
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

import { describe, expect, test } from "vitest";
import { textOf } from "../conversation/message.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { LoopDriver, Tool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { call, finishTask, type Script, scriptedModel } from "../testing/scripted-model.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { launchAgent } from "./control/launch-agent.ts";

const ran: string[] = [];
const tool = (name: string, more: Partial<Tool> = {}): Tool =>
  defineTool({
    name,
    description: "",
    input: { type: "object" },
    effects: "none",
    execute() {
      ran.push(name);
      return `${name} ran`;
    },
    ...more,
  });
const tools = [tool("search"), tool("read"), tool("write")];

type ToolsFor = NonNullable<AgentOptions["toolsFor"]>;

function agentOf(script: Script, toolsFor: ToolsFor, more: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script);
  const offered = () => model.requests.map((request) => request.tools.map(({ name }) => name));
  return { model, offered, agent: new Agent({ model, tools, toolsFor, ...more }) };
}

describe("toolsFor", () => {
  test("L6: offers some tools in each step, by the step and the messages", async () => {
    const seen: [number, string][] = [];
    const { agent, offered } = agentOf([[call("search")], [call("write")], "Done.", "Again."], ({ step, messages }) => {
      const last = messages.at(-1);
      seen.push([step, last?.role === "assistant" ? String(last.calls[0]?.output) : textOf(last as never)]);
      if (step === 1) return ["read", "search"];
      return last?.role === "assistant" && last.calls[0]?.tool === "search" ? ["write"] : undefined;
    });
    const session = Session.inMemory();
    expect(await agent.send("Go", { session })).toMatchObject({ reason: "answered", text: "Done." });
    await agent.send("More", { session });
    // The order is the agent's own, so that equal choices are equal requests.
    expect(offered()).toEqual([["search", "read"], ["write"], ["search", "read", "write"], ["search", "read"]]);
    expect(seen).toEqual([
      [1, "Go"],
      [2, "search ran"],
      [3, "write ran"],
      [1, "More"],
    ]);
  });

  test("L6: the same choice gives the same list of tools, and all tools give the agent's own", async () => {
    const { agent, model } = agentOf(
      [[call("search")], [call("search")], [call("search")], "Done."],
      async ({ step }) => [["search", "read"], ["read", "search"], undefined, ["write", "read", "search"]][step - 1],
    );
    await agent.send("Go");
    const [first, second, third, fourth] = model.requests.map((request) => request.tools);
    expect(second).toBe(first);
    expect(fourth).toBe(third);
  });

  test("L6: a call of a tool that the step does not offer does not run", async () => {
    ran.length = 0;
    const { agent } = agentOf([[call("write"), call("read")], "Done."], () => ["search", "read"]);
    const session = Session.inMemory();
    await agent.send("Go", { session });
    const [first] = [...session.state.messages.values()].filter(({ role }) => role === "assistant");
    expect(first).toMatchObject({
      calls: [
        { tool: "write", status: "failed", output: 'There is no tool "write". There are: search, read.' },
        { tool: "read", status: "completed" },
      ],
    });
    expect(ran).toEqual(["read"]);
  });

  test("L6: the tools of a task stay, and a sub-agent gets all tools", async () => {
    const script: Script = [
      [call("launch_agent", { task: "Look.", expected_output: "All." })],
      [finishTask("seen")],
      [finishTask("all seen")],
    ];
    const more = { mode: "task", tools: [...tools, launchAgent()] } as const;
    const { agent, offered } = agentOf(script, ({ step }) => (step === 1 ? ["launch_agent"] : []), more);
    expect(await agent.send("Go")).toMatchObject({ reason: "finished", result: "all seen" });
    const task = ["finish_task", "ask_client"];
    expect(offered()).toEqual([["launch_agent", ...task], ["search", "read", "write", "launch_agent", ...task], task]);
  });

  test("L6: unlisted tools stay reachable through a tool that forwards, and only through it", async () => {
    ran.length = 0;
    const forward = tool("call_other", { forwards: true });
    const hidden = tool("hidden", { unlisted: true });
    const script: Script = [[call("call_other", { tool: "hidden", input: {} })], [call("hidden")], "Done."];
    const toolsFor: ToolsFor = ({ step }) => (step === 1 ? ["call_other"] : ["search"]);
    const { agent, offered } = agentOf(script, toolsFor, { tools: [...tools, forward, hidden] });
    await agent.send("Go");
    expect(offered()).toEqual([["call_other"], ["search"], ["search"]]);
    expect(ran).toEqual(["hidden"]);
  });

  test("L6: a step may have no tools", async () => {
    const { agent, offered } = agentOf(["Done."], () => []);
    expect(await agent.send("Go")).toMatchObject({ text: "Done." });
    expect(offered()).toEqual([[]]);
  });

  test.each<[string, unknown, string]>([
    [
      "a name that is no tool",
      () => ["serch"],
      'toolsFor returned "serch", but the agent has no such tool. Did you mean search?',
    ],
    ["a text", () => "search", 'toolsFor returned string; it must return names of tools, such as ["search"].'],
    [
      "a tool in place of its name",
      () => [tools[0]],
      "but the agent has no such tool. There are: search, read, write.",
    ],
    ["an error", () => Promise.reject(new Error("the plan is gone")), "the plan is gone"],
  ])("L6: %s fails the turn, before the model is called", async (_, toolsFor, sentence) => {
    const { agent, model } = agentOf(["never"], toolsFor as ToolsFor);
    await expect(agent.send("Go")).rejects.toMatchObject({
      name: "TurnError",
      message: expect.stringContaining(sentence),
    });
    expect(model.asked).toBe(0);
  });

  test("L6: a forced call needs an offered tool", async () => {
    const forced = agentOf(["never"], () => ["read"], { toolChoice: { tool: "search" } }).agent.send("Go");
    await expect(forced).rejects.toThrow('toolsFor offers no tool "search" in step 1, but toolChoice forces a call.');
    const any = agentOf(["never"], () => [], { toolChoice: "required" }).agent.send("Go");
    await expect(any).rejects.toThrow("toolsFor offers no tool in step 1, but toolChoice forces a call.");
  });

  test("L6: an interruption ends the wait for it", async () => {
    const { agent, model } = agentOf(["never"], () => new Promise(() => {}));
    const turn = await agent.send("Go", { signal: AbortSignal.timeout(20) });
    expect(turn.reason).toBe("interrupted");
    expect(model.asked).toBe(0);
  });

  test("L6: a loop that runs whole turns, and a value that is no function, are refused", async () => {
    const loop: LoopDriver = { id: "acp/other", family: "loop", run: async () => {} };
    await expect(agentOf([], () => [], { model: loop }).agent.send("Go")).rejects.toThrow(
      "acp/other runs its own turns and chooses its tools itself; leave out toolsFor.",
    );
    expect(() => agentOf([], ["search"] as never)).toThrow("toolsFor of an agent must be a function");
  });
});

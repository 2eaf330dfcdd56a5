import { methods, type RequestPermissionResponse } from "@agentclientprotocol/sdk/unstable";
import { defineTool, launchAgent } from "@banyan/core";
import { updatePlan } from "@banyan/core/hosts";
import { NEW_PROBLEMS } from "@banyan/core/shown";
import { call, fail, pause, reasoning, scriptedModel, spend, text } from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { editor, WORKSPACE } from "../../testing/editor.fixture.ts";
import { writer } from "./door.fixture.ts";

const { session } = methods.agent;

const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 60_000 });

const choose = (optionId: string) => async (): Promise<RequestPermissionResponse> => ({
  outcome: { outcome: "selected", optionId },
});

test("A1: load: the whole conversation comes as updates before the answer: user, thought, answer, each call with what came of it", async () => {
  const { tool } = writer();
  const model = scriptedModel([
    [reasoning("I note it."), text("Yes."), call("note", { path: "a.txt" }, "c1"), spend({ input: 10, output: 5 })],
    "Done.",
    "Fine.",
  ]);
  const at = await editor({ model, tools: [tool] });
  const sessionId = await at.begin();
  expect(await at.say(sessionId, "note it")).toEqual({ stopReason: "end_turn" });
  expect(await at.say(sessionId, "thanks")).toEqual({ stopReason: "end_turn" });
  // The editor already shows its own messages.
  expect(at.told("user_message_chunk")).toBe("");

  const other = await at.another();
  await other.agent.request(session.load, { sessionId, cwd: WORKSPACE, mcpServers: [] });
  const seen = [...other.updates];
  expect(seen.map(({ update }) => update.sessionUpdate)).toEqual([
    ...["user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update"],
    ...["agent_message_chunk", "user_message_chunk", "agent_message_chunk"],
  ]);
  expect(other.told("user_message_chunk")).toBe("note itthanks");
  expect(other.told("agent_message_chunk")).toBe(at.told("agent_message_chunk"));
  expect(other.of("tool_call_update")[0]).toMatchObject({ toolCallId: "c1", status: "completed" });
  expect(other.of("tool_call")[0]).toMatchObject({
    title: "note: a.txt",
    name: "note",
    kind: "edit",
    status: "pending",
    rawInput: { path: "a.txt" },
    locations: [{ path: `${WORKSPACE}/a.txt` }],
  });

  await other.agent.request(session.resume, { sessionId, cwd: WORKSPACE });
  expect(other.told("user_message_chunk")).toBe("note itthanks");
});

test("A2, A8: advertised methods have handlers, and unknown sessions and methods get the protocol's errors", async () => {
  const at = await editor({ model: scriptedModel(["Yes."]) });
  const gone = { sessionId: "none", cwd: WORKSPACE, mcpServers: [] };
  for (const method of [session.load, session.resume, session.fork])
    await expect(at.agent.request(method, gone)).rejects.toMatchObject({ code: -32_002 });
  await expect(at.say("none", "hello")).rejects.toMatchObject({ code: -32_002, data: { sessionId: "none" } });
  await at.agent.notify(session.cancel, { sessionId: "none" });
  await at.agent.request(session.close, { sessionId: "none" });

  const sessionId = await at.begin();
  await at.say(sessionId, "hello");
  await expect(at.agent.request(session.new, { cwd: "here", mcpServers: [] })).rejects.toMatchObject({ code: -32_602 });
  const bad = [{ type: "image" as const, mimeType: "image/png", data: "this is no base 64" }];
  await expect(at.agent.request(session.prompt, { sessionId, prompt: bad })).rejects.toMatchObject({ code: -32_602 });
  await expect(at.say(sessionId, "  ")).rejects.toMatchObject({ code: -32_602 });
  await expect(at.agent.request("session/nothing", {})).rejects.toMatchObject({ code: -32_601 });
  await expect(at.agent.request(session.list, { cursor: "x" })).rejects.toMatchObject({ code: -32_602 });
  const { sessions } = await at.agent.request(session.list, { cwd: WORKSPACE });
  expect(sessions).toMatchObject([{ sessionId, cwd: WORKSPACE, title: "hello" }]);
  await at.agent.request(session.delete, { sessionId });
  expect(await at.agent.request(session.list, {})).toEqual({ sessions: [] });
});

test("a fork is a branch of the same tree: neither sees what is said in the other, and each is found again by its id", async () => {
  const at = await editor({ model: scriptedModel(["one", "left", "right", "left again", "right again"]) });
  const sessionId = await at.begin();
  await at.say(sessionId, "begin");
  const fork = await at.agent.request(session.fork, { sessionId, cwd: WORKSPACE });
  expect(fork.sessionId).not.toBe(sessionId);
  await at.say(sessionId, "L");
  await at.say(fork.sessionId, "R");
  expect([at.told("agent_message_chunk", sessionId), at.told("agent_message_chunk", fork.sessionId)]).toEqual([
    "oneleft",
    "right",
  ]);

  const other = await at.another();
  for (const id of [sessionId, fork.sessionId])
    await other.agent.request(session.load, { sessionId: id, cwd: WORKSPACE, mcpServers: [] });
  expect(other.told("agent_message_chunk", sessionId)).toBe("oneleft");
  expect(other.told("agent_message_chunk", fork.sessionId)).toBe("oneright");
  expect(other.told("user_message_chunk", fork.sessionId)).toBe("beginR");
  await other.say(sessionId, "L2");
  await other.say(fork.sessionId, "R2");
  expect(other.told("agent_message_chunk", sessionId)).toBe("oneleftleft again");
  expect(other.told("agent_message_chunk", fork.sessionId)).toBe("onerightright again");
  await eventually(() => expect(at.told("agent_message_chunk", fork.sessionId)).toBe("rightright again"));
});

test("A9: messages of other clients arrive outside a turn, with the options approval, model, effort, and modes for old editors", async () => {
  const other = scriptedModel(["From the other."]);
  const at = await editor(
    { model: scriptedModel(["Hello there."]) },
    { models: { "scripted/other": other, "scripted/other:low": other } },
  );
  const { sessionId, modes, configOptions } = await at.agent.request(session.new, { cwd: WORKSPACE, mcpServers: [] });
  expect(modes?.currentModeId).toBe("ask");
  expect(configOptions?.map(({ category }) => category)).toEqual(["mode", "model", "thought_level"]);
  await at.page.connected();
  await at.page.ask("turn.say", { conversation: sessionId, parts: [{ type: "text", text: "from the page" }] });
  await eventually(() => expect(at.told("agent_message_chunk")).toBe("Hello there."));
  expect(at.told("user_message_chunk")).toBe("from the page");

  const set = (configId: string, value: string) =>
    at.agent.request(session.setConfigOption, { sessionId, configId, value });
  const valueAt = async (configId: string, value: string) =>
    (await set(configId, value)).configOptions.find(({ id }) => id === configId)?.currentValue;
  expect(await valueAt("model", "scripted/other")).toBe("scripted/other");
  expect(await valueAt("effort", "low")).toBe("low");
  await at.say(sessionId, "who is there?");
  expect(at.told("agent_message_chunk")).toContain("From the other.");
  expect(await valueAt("mode", "edits")).toBe("edits");
  await eventually(() => expect(at.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: "edits" }));
  await at.agent.request(session.setMode, { sessionId, modeId: "ask" });
  await expect(set("model", "no/such")).rejects.toMatchObject({ code: -32_602 });
  await expect(set("mode", "none")).rejects.toMatchObject({ code: -32_602 });
  await expect(set("colour", "red")).rejects.toMatchObject({ code: -32_602 });
});

test("pictures, links and embedded files of a prompt reach the model; a file is read as the editor has it", async () => {
  const model = scriptedModel(["Seen."]);
  const at = await editor(
    { model },
    { capabilities: { fs: { readTextFile: true } }, read: async (path) => `unsaved ${path}` },
  );
  const sessionId = await at.begin();
  await at.agent.request(session.prompt, {
    sessionId,
    prompt: [
      { type: "text", text: "look at " },
      { type: "resource_link", name: "a.ts", uri: "file:///a/workspace/a.ts" },
      { type: "resource_link", name: "site", uri: "https://example.org/" },
      { type: "image", mimeType: "image/png", data: "aGVsbG8=" },
      { type: "resource", resource: { uri: "file:///a/workspace/b.ts", text: "embedded @c.ts" } },
    ],
  });
  const sent = JSON.stringify(model.requests[0]);
  for (const part of [
    "look at ",
    "unsaved /a/workspace/a.ts",
    "[site](https://example.org/)",
    "aGVsbG8=",
    "embedded @c.ts",
  ])
    expect(sent).toContain(part);
});

test("A13: a sub-agent appears at the call that launched it, or as its own session in an editor that supports this", async () => {
  const script = () =>
    scriptedModel((_request, index) =>
      index === 0
        ? [call("launch_agent", { task: "count the leaves", expected_output: "a number" }, "launch")]
        : index === 1
          ? [text("Three", " leaves."), call("finish_task", { result: "3" })]
          : "There are 3.",
    );
  const plain = await editor({ model: script(), tools: [launchAgent()] });
  await plain.say(await plain.begin(), "count");
  expect(plain.told("agent_message_chunk")).toBe("There are 3.");
  expect(new Set(plain.of("tool_call").map(({ toolCallId }) => toolCallId))).toEqual(new Set(["launch"]));
  expect(plain.of("tool_call_update").at(-1)).toMatchObject({ toolCallId: "launch", status: "completed" });

  const knowing = await editor({ model: script(), tools: [launchAgent()] }, { capabilities: { subagents: {} } });
  const sessionId = await knowing.begin();
  await knowing.say(sessionId, "count");
  const [child] = knowing.of("subagent_update");
  expect(knowing.of("subagent_update").map(({ state }) => state?.state)).toEqual(["running", "idle"]);
  expect(knowing.told("agent_message_chunk", child?.sessionId)).toBe("Three leaves.");
  expect(knowing.told("agent_message_chunk", sessionId)).toBe("There are 3.");
});

test("discarded text cannot be retracted, and the editor gets a notice; a command's output is text", async () => {
  const at = await editor({
    model: scriptedModel([[text("Half"), pause(5), fail("overloaded")], "Whole."]),
    retry: { attempts: 2, delay: 1 },
  });
  const sessionId = await at.begin();
  await eventually(() => expect(at.of("available_commands_update")).toHaveLength(1));
  await at.say(sessionId, "go");
  expect(at.told("agent_message_chunk")).toContain("Whole.");
  expect(at.told("agent_thought_chunk")).toContain("The text above is discarded.");
  const before = at.told("agent_message_chunk");
  expect(await at.say(sessionId, "/here")).toEqual({ stopReason: "end_turn" });
  expect(at.told("agent_message_chunk").slice(before.length)).toMatch(/^leaf: \S+\n$/);
});

const entry = (content: string, status: string) => ({ content, priority: "medium", status });

test("an editor gets each change of a plan, and the current plan after it loads the conversation", async () => {
  const plan = (...steps: (readonly [string, string])[]) =>
    call("update_plan", { steps: steps.map(([title, status]) => ({ title, status })) });
  const model = scriptedModel([
    [plan(["look", "in_progress"], ["mend", "pending"])],
    [plan(["look", "soon"])],
    [plan(["look", "completed"], ["mend", "in_progress"])],
    "So far.",
  ]);
  const at = await editor({ model, tools: [updatePlan()] });
  const sessionId = await at.begin();
  await at.say(sessionId, "mend it");
  const now = [entry("look", "completed"), entry("mend", "in_progress")];
  expect(at.of("plan").map(({ entries }) => entries)).toEqual([
    [entry("look", "in_progress"), entry("mend", "pending")],
    now,
  ]);
  expect(at.of("tool_call").at(-1)).toMatchObject({ kind: "think" });
  const other = await at.another();
  await other.agent.request(session.load, { sessionId, cwd: WORKSPACE, mcpServers: [] });
  expect(other.of("plan").map(({ entries }) => entries)).toEqual([now]);
});

test.each([
  ["ask", "allow", "ask"],
  ["edits", "allow", "edits"],
  ["no", "deny", "plan"],
] as const)("a plan that is handed in is decided about in the editor: %s", async (option, decision, mode) => {
  const steps = [{ title: "mend", status: "pending" }];
  const model = scriptedModel([[call("update_plan", { steps, hand_in: true })], "Well."]);
  const permission = ({ tool }: { tool: { name: string } }) =>
    ({ decision: tool.name === "update_plan" ? "ask" : "allow" }) as const;
  const asked: unknown[] = [];
  const permit: Parameters<typeof editor>[1] = {
    permit(request) {
      asked.push(request);
      return choose(option)();
    },
  };
  const at = await editor({ model, tools: [updatePlan()], permission }, permit);
  const sessionId = await at.begin();
  await at.agent.request(session.setMode, { sessionId, modeId: "plan" });
  await at.say(sessionId, "plan it");
  expect(asked[0]).toMatchObject({
    toolCall: { kind: "switch_mode", content: [{ content: { text: "- [ ] mend" } }] },
    options: [{ optionId: "ask" }, { optionId: "edits" }, { optionId: "no" }],
  });
  expect(at.of("tool_call_update").at(-1)?.status).toBe(decision === "allow" ? "completed" : "failed");
  const { modes } = await at.agent.request(session.resume, { sessionId, cwd: WORKSPACE });
  expect(modes?.currentModeId).toBe(mode);
});

test("E1: an editor gets the new problems after applied blocks, which no call reports", async () => {
  const report = `${NEW_PROBLEMS}\na.ts:2: error: Expected 1 argument.`;
  const open = defineTool({
    name: "open",
    description: "Opens a file.",
    input: { type: "object" },
    effects: "none",
    execute(_, { follow }) {
      follow({ completed: () => ({ say: `All is applied.\n\n${report}` }) });
      return "Opened.";
    },
  });
  const at = await editor({ model: scriptedModel([[call("open")], "Blocks.", "Done."]), tools: [open] });
  await at.say(await at.begin(), "go");
  expect(at.told("agent_thought_chunk")).toBe(`${report}\n\n`);
});

import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { isDelta, isEvent } from "../conversation/feed-item.ts";
import { emptyConversation } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Permission, PermitRequest } from "../ports/human.ts";
import type { Tool } from "../ports/tool.ts";
import { promptFrom } from "../run/prompt.ts";
import { Session } from "../session/session.ts";
import { call, collect, cut, parts, rawCall, type Scene, scriptedModel } from "../testing/index.ts";

const issue = defineTool({
  name: "mcp_tracker_issue",
  description: "Opens an issue.",
  input: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  effects: "external",
  unlisted: true,
  execute: (input) => `opened ${JSON.stringify(input)}`,
});
const forwarder = defineTool({
  name: "call_tool",
  description: "Calls a tool that is not listed.",
  input: { type: "object", properties: { tool: { type: "string" }, input: { type: "object" } }, required: ["tool"] },
  effects: "none",
  forwards: true,
  execute: (input) => {
    throw new Error(`nothing is called ${(input as { tool: string }).tool}`);
  },
});

async function turn(scenes: readonly Scene[], tools: readonly Tool[] = [forwarder, issue], permission?: Permission) {
  const model = scriptedModel([...scenes, "ok"]);
  const session = Session.inMemory();
  const told: unknown[] = [];
  const callbacks = { onCalls: (calls: readonly { tool: string; input?: unknown }[]) => told.push(...calls) };
  const agent = new Agent({ model, tools, permission, callbacks, retry: { attempts: 1 } });
  const items = await collect(agent.chat(say("Go."), { session }));
  const state = emptyConversation();
  for (const item of items) if (isEvent(item)) reduce(state, item);
  const [called] = [...state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls : [],
  );
  return { model, items, state, called, told };
}

const wrapped = call("call_tool", { tool: "mcp_tracker_issue", input: { title: "It burns" } });

test("C3: a forwarded call is judged, logged, shown and run as the named tool's call", async () => {
  const asked: PermitRequest[] = [];
  const permission: Permission = (request) => {
    asked.push(request);
    return { decision: "allow" };
  };
  const { items, called, told } = await turn([[wrapped]], undefined, permission);
  expect(asked).toMatchObject([{ tool: { name: "mcp_tracker_issue" }, input: { title: "It burns" } }]);
  expect(told).toMatchObject([{ tool: "mcp_tracker_issue", input: { title: "It burns" } }]);
  expect(called).toMatchObject({
    tool: "mcp_tracker_issue",
    via: "call_tool",
    input: { title: "It burns" },
    status: "completed",
    output: 'opened {"title":"It burns"}',
  });
  const named = items.flatMap((item) => ("tool" in item && item.tool !== undefined ? [item.tool] : []));
  expect(new Set(named)).toEqual(new Set(["mcp_tracker_issue"]));
  expect(items.filter(isDelta).find(({ type }) => type === "call.input.delta")).toMatchObject({
    text: '{"title":"It burns"}',
  });
});

test("C3: the model sees its own call, also after the log is read again", async () => {
  const { model, state } = await turn([[wrapped]]);
  const [, answer] = model.requests[1]?.messages ?? [];
  expect(answer).toMatchObject({
    parts: [{ type: "call", tool: "call_tool", input: { tool: "mcp_tracker_issue", input: { title: "It burns" } } }],
    results: [{ tool: "call_tool", failed: false }],
  });
  expect(promptFrom(pathTo(state, state.leaf).slice(0, -1))).toEqual(model.requests[1]?.messages);
});

test.each([
  [
    "arguments that do not fit",
    { title: 5 },
    /^The arguments of "mcp_tracker_issue" do not match its schema: at title: /,
  ],
  ["no arguments", undefined, /^The arguments of "mcp_tracker_issue" do not match its schema: .*title/],
  ["arguments as a text that is no JSON", "It burns", /^The arguments of "mcp_tracker_issue" are not JSON: /],
  ["arguments as JSON in a text", '{"title":"It burns"}', /^opened \{"title":"It burns"\}$/],
])("C3: %s are held to the tool that is meant", async (_, input, said) => {
  const { called } = await turn([
    [call("call_tool", { tool: "mcp_tracker_issue", ...(input !== undefined && { input }) })],
  ]);
  expect(called?.output).toMatch(said);
  expect(called?.tool).toBe("mcp_tracker_issue");
});

test.each([
  ["a tool that is not there", call("call_tool", { tool: "mcp_tracker_isue" }), /nothing is called mcp_tracker_isue/],
  ["itself", call("call_tool", { tool: "call_tool", input: {} }), /nothing is called call_tool/],
  ["nothing", call("call_tool", { input: {} }), /^The arguments of "call_tool" do not match its schema/],
  ["what is no JSON", rawCall("call_tool", '{"tool":'), /^The arguments of "call_tool" are not JSON/],
])("C3: a call of %s is a call of the forwarding tool, with a reason", async (_, beat, said) => {
  const { called } = await turn([[beat]]);
  expect(called).toMatchObject({ tool: "call_tool", status: "failed" });
  expect(called?.output).toMatch(said);
});

test("C3: calls that had begun when the answer broke off are in the log once, as far as written", async () => {
  const begun = parts(
    { type: "text", text: "Now" },
    { type: "call", index: 0, id: "c1", tool: "call_tool" },
    { type: "call-input", index: 0, text: '{"tool":"mcp_' },
  );
  const { called } = await turn([[begun, cut()]]);
  expect(called).toMatchObject({ id: "c1", tool: "call_tool", status: "cancelled", inputText: '{"tool":"mcp_' });
});

test("C3: an unlisted tool is hidden from models that can forward calls, and listed for others", async () => {
  const { model } = await turn(["Hello."]);
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(["call_tool"]);
  const alone = await turn(["Hello."], [issue]);
  expect(alone.model.requests[0]?.tools.map(({ name }) => name)).toEqual(["mcp_tracker_issue"]);
});

test("C3: an unlisted tool can be called by its own name, and the error for a wrong name lists listed tools", async () => {
  const { called } = await turn([[call("mcp_tracker_issue", { title: "x" })]]);
  expect(called).toMatchObject({ status: "completed" });
  expect((await turn([[call("teleport")]])).called?.output).toBe('There is no tool "teleport". There are: call_tool.');
});

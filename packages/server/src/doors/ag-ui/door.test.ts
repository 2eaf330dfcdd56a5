import type { Message } from "@ag-ui/client";
import { Agent, createId, defineTool, launchAgent, Session } from "@banyan/core";
import type { ModelRequest } from "@banyan/core/drivers";
import { call, cut, fail, reasoning, scriptedModel, stall, text } from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { AgUiClient } from "../../testing/ag-ui-client.fixture.ts";
import { ask } from "../../testing/request.fixture.ts";
import { serving, TOKEN } from "../../testing/serving.fixture.ts";
import type { AgUiEvent } from "./event.ts";
import { agUiEvents } from "./feed.ts";

const headers = { authorization: `Bearer ${TOKEN}` };

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({ path: z.string() }),
  effects: "none",
  execute: ({ path }) => {
    if (path === "none") throw new Error("no such file");
    return `saw ${path}`;
  },
});

/** A tool that needs approval, and the names of its runs. */
function writing() {
  const ran: string[] = [];
  const tool = defineTool({
    name: "write",
    description: "Writes.",
    input: z.object({ name: z.string() }),
    effects: "external",
    execute: ({ name }) => {
      ran.push(name);
      return `wrote ${name}`;
    },
  });
  return { ran, tool };
}

const interruptsOf = (client: AgUiClient) => client.pendingInterrupts;
const outcomeOf = (client: AgUiClient) => client.last?.outcome;

async function exported(address: string, conversation: string) {
  const { body } = await ask(address, `/api/v1/conversations/${conversation}/export`, { headers });
  return (JSON.parse(body) as { events: { type: string; role?: string; parentId?: string | null }[] }).events;
}

test("/api/ag-ui: AG-UI's own client has text, reasoning, calls and what came of them, with usage and the tree; it goes on, asks again and branches", async () => {
  const model = scriptedModel([
    [reasoning("Let me see."), text("I look."), call("look", { path: "a" }), call("look", { path: "none" })],
    ...["Done.", "two", "two again", "elsewhere"],
  ]);
  const { server } = await serving({ model, tools: [look] });
  const client = new AgUiClient(server.address, "thread-1");
  client.setState({ own: 1 });
  await client.say("one");
  expect(client.told).toEqual([
    "user: one",
    "reasoning: Let me see.",
    'assistant: I look. look({"path":"a"}) look({"path":"none"})',
    "tool: saw a",
    "tool: The tool failed: no such file",
    "assistant: Done.",
  ]);
  expect(client.seen[0]).toMatchObject({ protocolVersion: "1.0", metadata: { banyan: { run: expect.any(String) } } });
  expect(client.last).toMatchObject({
    outcome: { type: "success" },
    usage: [{ provider: "scripted", model: "model", inputTokens: 2, outputTokens: 2, totalTokens: 4 }],
  });
  const end = client.messages.at(-1)?.id;
  expect(client.state).toEqual({ own: 1, banyan: { leaf: end, branches: [end] } });

  // A program without messages gets all existing ones.
  const later = new AgUiClient(server.address, "thread-1");
  await later.runAgent();
  expect(later.messages).toEqual(client.messages);
  expect(outcomeOf(later)).toEqual({ type: "success" });

  await client.say("more");
  client.setMessages(client.messages.slice(0, -1) as Message[]);
  await client.runAgent();
  expect(client.told.slice(-2)).toEqual(["user: more", "assistant: two again"]);
  await client.say("from the first answer", { forwardedProps: { banyan: { at: end } } });
  expect(client.told.at(-1)).toBe("assistant: elsewhere");
  expect(client.state.banyan.branches).toHaveLength(3);
  const said = (await exported(server.address, "thread-1")).filter(({ role }) => role === "user");
  expect(said.map(({ parentId }) => parentId)).toEqual([null, end, end]);
});

test("/api/ag-ui: what asks ends the run with an interrupt and the turn waits; resume answers it, with other arguments too, and the same turn goes on", async () => {
  const { ran, tool } = writing();
  const both = [call("write", { name: "a" }), call("write", { name: "b" })];
  const model = scriptedModel([both, "As you like.", [call("write", { name: "c" })], "Never mind."]);
  const { server } = await serving({ model, tools: [tool], permission: () => ({ decision: "ask" }) });
  const client = new AgUiClient(server.address, "asks");
  await client.say("write");
  const [first, second] = interruptsOf(client);
  expect([first, second]).toMatchObject([
    { reason: "tool_call", message: "May the agent run write?", toolCallId: expect.any(String) },
    { reason: "tool_call" },
  ]);
  await expect(client.say("and?")).rejects.toThrow("pending interrupt");
  client.setMessages(client.messages.slice(0, -1) as Message[]);
  await client.runAgent({
    resume: [
      { interruptId: first?.id ?? "", status: "resolved", payload: { approved: true, editedArgs: { name: "z" } } },
      { interruptId: second?.id ?? "", status: "resolved", payload: { approved: false, reason: "no" } },
    ],
  });
  expect(ran).toEqual(["z"]);
  const results = ["tool: The user denied this call: no", "tool: wrote z"];
  expect(client.told.slice(-3)).toEqual([...results, "assistant: As you like."]);
  expect(client.messages.filter(({ role }) => role === "assistant")).toHaveLength(2);
  // A cancelled interrupt is no approval.
  await client.say("again");
  await client.runAgent({ resume: [{ interruptId: interruptsOf(client)[0]?.id ?? "", status: "cancelled" }] });
  expect([ran, client.told.at(-1), outcomeOf(client)]).toEqual([["z"], "assistant: Never mind.", { type: "success" }]);
});

test("S31: an interrupt names the folder in which its call would work", async () => {
  const { tool } = writing();
  const placed = { ...tool, folder: () => "/a/worktree" };
  const model = scriptedModel([[call("write", { name: "a" })], "Never mind."]);
  const { server } = await serving({ model, tools: [placed], permission: () => ({ decision: "ask" }) });
  const client = new AgUiClient(server.address, "folder");
  await client.say("write");
  expect(interruptsOf(client).map(({ message }) => message)).toEqual(["May the agent run write in /a/worktree?"]);
  await client.runAgent({ resume: [{ interruptId: interruptsOf(client)[0]?.id ?? "", status: "cancelled" }] });
});

test("/api/ag-ui: a question in words and a limit are interrupts too", async () => {
  const where = defineTool({
    name: "where",
    description: "Asks where.",
    input: z.object({}),
    effects: "none",
    execute: (_, context) => context.ask({ text: "Where to?", choices: ["test", "live"] }),
  });
  const limits = { steps: 1, policy: "ask" } as const;
  const { server } = await serving({ model: scriptedModel([[call("where")], "Gone."]), tools: [where], limits });
  const client = new AgUiClient(server.address, "questions");
  await client.say("go");
  const resume = async (payload: unknown) => {
    const interruptId = interruptsOf(client)[0]?.id ?? "";
    await client.runAgent({ resume: [{ interruptId, status: "resolved", payload }] });
  };
  expect(interruptsOf(client)).toMatchObject([{ reason: "input_required", message: "Where to?" }]);
  await expect(resume({ nothing: true })).rejects.toThrow(/payload/);
  await resume({ text: "live" });
  expect(interruptsOf(client)).toMatchObject([{ reason: "confirmation", message: expect.stringContaining("1 step") }]);
  await resume({ approved: true });
  expect([client.told.at(-2), client.told.at(-1)]).toEqual(["tool: live", "assistant: Gone."]);
});

test("/api/ag-ui: tools of the program are handed out, and its results go back to the turn that waits", async () => {
  const { tool } = writing();
  const model = scriptedModel([[call("locate", { of: "me" }), call("locate", { of: "you" })], "Here and there."]);
  const { server } = await serving({ model, tools: [tool], permission: () => ({ decision: "deny", reason: "no" }) });
  const client = new AgUiClient(server.address, "hands-out");
  const parameters = { type: "object", properties: { of: { type: "string" } } };
  const tools = [{ name: "locate", description: "Where somebody is.", parameters }];
  await client.say("where?", { tools });
  const outcome = outcomeOf(client) as { readonly pendingToolCallIds: readonly string[] };
  expect(outcome).toEqual({ type: "success", pendingToolCallIds: [expect.any(String), expect.any(String)] });
  for (const [index, toolCallId] of outcome.pendingToolCallIds.entries())
    client.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId, content: ["here", "there"][index] ?? "" });
  await client.runAgent({ tools });
  expect([client.told.at(-1), outcomeOf(client)]).toEqual(["assistant: Here and there.", { type: "success" }]);
  const taken = [{ ...tools[0], name: "write" }] as typeof tools;
  await expect(client.say("again", { tools: taken })).rejects.toThrow("write is one of the agent itself");
});

const taskOf = ({ messages: [first] }: ModelRequest) =>
  first?.role === "user" && first.parts[0]?.type === "text" ? first.parts[0].text : "";

/** An agent with sub-agents, one of which wants to write. */
function delegating() {
  const { ran, tool } = writing();
  const model = scriptedModel((request) => {
    const task = taskOf(request);
    const begins = request.messages.length === 1;
    const launch = (what: string) => call("launch_agent", { task: what, expected_output: "words" });
    if (task.startsWith("Write"))
      return begins ? [text("I write."), call("write", { name: "x" })] : [call("finish_task", { result: "written" })];
    if (task.startsWith("Count")) return [text("I count."), call("finish_task", { result: "12" })];
    return begins ? [launch("Write it."), launch("Count it.")] : "All done.";
  });
  return { ran, options: { model, tools: [tool, launchAgent()], permission: asksToWrite } };
}

const asksToWrite = ({ tool }: { readonly tool: { readonly name: string } }) =>
  ({ decision: tool.name === "write" ? "ask" : "allow" }) as const;

test("/api/ag-ui: a sub-agent's events name it; its question suspends it, and the answer resumes it", async () => {
  const { ran, options } = delegating();
  const { server } = await serving(options as never);
  const client = new AgUiClient(server.address, "delegates");
  await client.say("go");
  const started = client.seen.filter(({ type }) => type === "SUBAGENT_STARTED");
  expect(started).toHaveLength(2);
  const [asking] = interruptsOf(client);
  expect(asking).toMatchObject({ reason: "tool_call", subagentRunId: started[0]?.subagentRunId });
  const ends = client.seen.filter(({ type }) => type === "SUBAGENT_FINISHED").map(({ outcome }) => outcome);
  expect(ends).toEqual([{ type: "success" }, { type: "suspended", interruptIds: [asking?.id] }]);
  const words = (run: unknown) =>
    client.seen
      .filter((each) => each.subagentRunId === run && each.type === "TEXT_MESSAGE_CONTENT")
      .map(({ delta }) => delta);
  expect(started.map(({ subagentRunId }) => words(subagentRunId))).toEqual([["I write."], ["I count."]]);
  await client.runAgent({
    resume: [{ interruptId: asking?.id ?? "", status: "resolved", payload: { approved: true } }],
  });
  expect([ran, client.told.at(-1)]).toEqual([["x"], "assistant: All done."]);
  // Usage counts the model calls of this run only: earlier ones were reported before the interrupt.
  expect(client.last).toMatchObject({ outcome: { type: "success" }, usage: [{ inputTokens: 2 }] });
});

test("/api/ag-ui: a disconnect does not stop the turn; a new client gets the turn from its beginning, until it is stopped", async () => {
  const { server } = await serving({ model: scriptedModel([[text("It ", "goes"), stall()]]) });
  const client = new AgUiClient(server.address, "leaves");
  const sent = client.say("go");
  await vi.waitFor(() => expect(client.told.at(-1)).toBe("assistant: It goes"), 20_000);
  client.abortRun();
  await sent;
  const back = new AgUiClient(server.address, "leaves");
  const joined = back.runAgent();
  await vi.waitFor(() => expect(back.told).toEqual(["user: go", "assistant: It goes"]), 20_000);
  // The program that left sends a message, and gets no text twice.
  const steering = client.say("and?");
  await vi.waitFor(() => expect(client.told.filter((each) => each === "assistant: It goes")).toHaveLength(1), 20_000);
  const stopped = await ask(server.address, "/api/ag-ui/leaves/stop", { method: "POST", headers });
  expect(JSON.parse(stopped.body)).toEqual({ interrupted: 1 });
  await Promise.all([joined, steering]);
  expect([outcomeOf(back), outcomeOf(client)]).toEqual([{ type: "cancelled" }, { type: "cancelled" }]);
});

test("/api/ag-ui: what is taken back goes; a model that fails ends the run as an error, with its usage", async () => {
  const { server } = await serving({
    model: scriptedModel([[text("Half a"), cut()], "Whole.", [fail("authentication")]]),
    retry: { delay: 1 },
  });
  const client = new AgUiClient(server.address, "breaks", [{ id: "s", role: "system", content: "Be brief." }]);
  await client.say("go");
  expect(client.told).toEqual(["system: Be brief.", "user: go", "assistant: Whole."]);
  expect(client.kinds).toContain("MESSAGES_SNAPSHOT");
  await client.say("on");
  expect(client.last).toMatchObject({ type: "RUN_ERROR", code: "failed", message: expect.stringMatching(/./) });
});

test("/api/ag-ui: bad input, another version and a guest get a sentence before anything begins; what is only newer is served", async () => {
  const guestToken = "a-guest-of-a-test-0123456789-0123456789";
  const { server } = await serving({ model: scriptedModel(["Hello."]) }, { guestToken });
  const user = { id: "m1", role: "user", content: "hello" };
  const base = { threadId: "new", runId: "r", messages: [user], tools: [], context: [] };
  const post = async (body: unknown, token = TOKEN) => {
    const given = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    return ask(server.address, "/api/ag-ui", { method: "POST", headers: given, body: sent });
  };
  const file = { type: "document", source: { type: "url", value: "file:///etc/passwd" } };
  const wrong: readonly (readonly [unknown, number, RegExp])[] = [
    ["{", 400, /body/],
    [{ ...base, threadId: "" }, 400, /threadId/],
    [{ ...base, threadId: ".." }, 400, /threadId: expected 1 to 128/],
    [{ ...base, messages: [{ ...user, id: ".." }] }, 400, /id of the last one must be 1 to 128/],
    [{ ...base, messages: "hello" }, 400, /messages/],
    [{ ...base, protocolVersion: "2.0" }, 400, /speaks AG-UI 1\.0, and 2\.0/],
    [{ ...base, messages: [{ ...user, content: "" }] }, 400, /is empty/],
    [{ ...base, messages: [{ ...user, content: { a: 1 } }] }, 400, /content/],
    [{ ...base, messages: [{ ...user, content: [file] }] }, 400, /address/],
    [{ ...base, resume: [{ interruptId: "x" }] }, 400, /resume/],
    [{ ...base, forwardedProps: { banyan: { at: "unknown" } } }, 404, /no message "unknown"/],
    [{ ...base, forwardedProps: { banyan: { model: "no/such" } } }, 409, /no\/such/],
  ];
  for (const [body, status, sentence] of wrong) {
    const answer = await post(body);
    expect([answer.status, JSON.parse(answer.body).error.message], JSON.stringify(body)).toEqual([
      status,
      expect.stringMatching(sentence),
    ]);
  }
  expect((await post(base, guestToken)).status).toBe(403);
  expect((await post(base, "wrong")).status).toBe(401);
  const { body } = await ask(server.address, "/api/v1/conversations", { headers });
  expect(JSON.parse(body).conversations).toEqual([]);
  const newer = { ...base, protocolVersion: "1.7", resume: [{ interruptId: "no such", status: "cancelled" }] };
  expect((await post({ ...newer, forwardedProps: { other: 1 } })).body).toContain('"Hello."');
});

test("agUiEvents tells a turn of a library's user; an interrupt ends the events and not the turn, which is taken up again", async () => {
  const { ran, tool } = writing();
  const model = scriptedModel([[text("I "), call("write", { name: "a" })], "Written."]);
  const agent = new Agent({ model, tools: [tool], permission: () => ({ decision: "ask" }) });
  const session = Session.inMemory();
  const run = { threadId: session.id, runId: createId() };
  const first = Array.fromAsync(agUiEvents(session.feed(), run, { session }));
  const turn = agent.send("write", { session });
  const events = await first;
  const waits = events.at(-1) as Extract<AgUiEvent, { type: "RUN_FINISHED" }>;
  const [interrupt] = waits.outcome.type === "interrupt" ? waits.outcome.interrupts : [];
  expect(interrupt?.reason).toBe("tool_call");
  const messages = events.flatMap((each) => (each.type === "TEXT_MESSAGE_START" ? [{ id: each.messageId }] : []));
  const second = agUiEvents(session.feed(), { ...run, runId: createId(), messages }, { session, continues: true });
  const rest = Array.fromAsync(second);
  await session.answer(interrupt?.id ?? "", { decision: "allow" });
  const types = (await rest).map(({ type }) => type);
  expect(types.filter((type) => !type.startsWith("STATE"))).toEqual([
    ...["RUN_STARTED", "TOOL_CALL_RESULT", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"],
    "RUN_FINISHED",
  ]);
  expect([ran, (await turn).text]).toEqual([["a"], "Written."]);
});

import { methods, type PromptResponse, type SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { defineTool, launchAgent } from "@banyan/core";
import {
  call,
  end,
  parts,
  pause,
  reasoning,
  type Scene,
  scriptedModel,
  spend,
  stall,
  text,
} from "@banyan/core/testing";
import { expect, test, vi } from "vitest";
import { type Editor, editor, WORKSPACE } from "../../testing/editor.fixture.ts";

const { session } = methods.agent;
const eventually = (look: () => unknown) => vi.waitFor(look, { timeout: 60_000 });
const at = { cwd: WORKSPACE, mcpServers: [] };

test("A2: each advertised feature has its methods, and a sign-in method names the user's next step", async () => {
  const { agent, hello, begin } = await editor({ model: scriptedModel(["Yes."]) });
  const { agentCapabilities: can = {}, authMethods = [], protocolVersion } = hello;
  expect(protocolVersion).toBe(1);
  const advertised = [...(can.loadSession ? ["load"] : []), ...Object.keys(can.sessionCapabilities ?? {})];
  expect(advertised.toSorted()).toEqual(["close", "delete", "fork", "list", "load", "resume"]);
  for (const each of advertised) {
    const sessionId = each === "list" ? "" : await begin();
    await agent.request(`session/${each}`, { ...(sessionId && { sessionId }), ...at });
  }
  expect(authMethods.map(({ description }) => description)).toEqual([expect.stringContaining("ANTHROPIC_API_KEY")]);
  for (const { id: methodId } of authMethods)
    expect(await agent.request(methods.agent.authenticate, { methodId })).toEqual({});
  const unknown = agent.request(methods.agent.authenticate, { methodId: "by hand" });
  await expect(unknown).rejects.toMatchObject({ code: -32_602 });
});

test("A4: session/cancel is a notification: as a request it is an error, and the turn goes on", async () => {
  const editing = await editor({ model: scriptedModel([[text("One"), pause(100), text(" and two.")]]) });
  const sessionId = await editing.begin();
  const saying = editing.say(sessionId, "count");
  await eventually(() => expect(editing.told("agent_message_chunk")).toBe("One"));
  await expect(editing.agent.request(session.cancel, { sessionId })).rejects.toMatchObject({ code: -32_601 });
  expect(await saying).toEqual({ stopReason: "end_turn" });
  expect(editing.told("agent_message_chunk")).toBe("One and two.");
});

test("A5: a session that is to be in another directory than its conversation is refused, loaded, resumed and forked", async () => {
  const { agent, begin, say } = await editor({ model: scriptedModel(["Yes."]) });
  const sessionId = await begin();
  await say(sessionId, "hello");
  await agent.request(session.close, { sessionId });
  for (const cwd of ["elsewhere", "/somewhere/else"])
    for (const method of [session.load, session.resume, session.fork])
      await expect(agent.request(method, { sessionId, cwd, mcpServers: [] })).rejects.toMatchObject({ code: -32_602 });
});

const ends: readonly (readonly [PromptResponse["stopReason"], Scene])[] = [
  ["end_turn", "All of it."],
  ["max_tokens", [text("As much as"), end("length")]],
  ["refusal", [text("I may not"), end("filtered")]],
];

test.each(ends)("A11: a prompt is answered with how its turn ended: %s", async (stopReason, scene) => {
  const { begin, say } = await editor({ model: scriptedModel([scene]) });
  expect(await say(await begin(), "tell")).toEqual({ stopReason });
});

test("A12: after each response an editor gets the used context and the conversation's cost", async () => {
  const scene: Scene = [text("Yes."), spend({ input: 200, output: 40 })];
  const price = { input: 5, output: 25 };
  const editing = await editor({ model: scriptedModel([scene, scene], { price }) });
  const sessionId = await editing.begin();
  await editing.say(sessionId, "one");
  await editing.say(sessionId, "two");
  const usages = editing.of("usage_update");
  expect(usages.map(({ used, size }) => [used, size])).toEqual([
    [240, 1_000],
    [240, 1_000],
  ]);
  const costs = usages.map(({ cost }) => cost);
  expect(costs).toEqual([expect.objectContaining({ currency: "USD" }), expect.objectContaining({ currency: "USD" })]);
  // Prices are in dollars per million tokens.
  expect(costs[0]?.amount).toBeCloseTo(0.002, 9);
  expect(costs[1]?.amount).toBeCloseTo(0.004, 9);
});

/** A turn with everything that only some editors can show, and the kinds of its updates. */
async function kindsToldTo(capabilities: object): Promise<{ readonly at: Editor; readonly kinds: Set<string> }> {
  const long = "It is long. ".repeat(200);
  const said = [long, "Round.", "Large.", "Heavy."];
  const model = scriptedModel([
    ...said,
    // The first compaction fails.
    [text("")],
    "In short: long.",
    [reasoning("Somebody else counts."), call("launch_agent", { task: "count", expected_output: "a number" })],
    [text("Three."), call("finish_task", { result: "3" })],
    "There are 3.",
  ]);
  const editing = await editor({ model, tools: [launchAgent()] }, { capabilities });
  const sessionId = await editing.begin();
  for (const _ of said) await editing.say(sessionId, "what is it like?");
  await editing.page.connected();
  for (const _ of ["without words", "in short"]) await editing.page.ask("branch.compact", { conversation: sessionId });
  await editing.say(sessionId, "count");
  return { at: editing, kinds: new Set(editing.updates.map(({ update }) => update.sessionUpdate)) };
}

test("A13: summaries, notices and sub-agents come in their own updates if the editor advertised them, and otherwise in updates that every editor knows", async () => {
  const own: SessionUpdate["sessionUpdate"][] = ["compaction_update", "subagent_update"];
  const knowing = await kindsToldTo({ session: { notices: {}, compaction: {} }, subagents: {} });
  expect(own.filter((kind) => !knowing.kinds.has(kind))).toEqual([]);
  const compactions = knowing.at.of("compaction_update");
  const statuses = ["in_progress", "failed", "in_progress", "completed"];
  expect(compactions.map(({ status }) => status)).toEqual(statuses);
  expect(new Set(compactions.map(({ compactionId }) => compactionId)).size).toBe(2);

  const noticing = await kindsToldTo({ session: { notices: {} } });
  expect(own.filter((kind) => noticing.kinds.has(kind))).toEqual([]);
  expect(noticing.at.of("notice").map(({ title }) => title)).toContainEqual(expect.stringContaining("Compacting"));

  const plain = await kindsToldTo({});
  expect([...own, "notice"].filter((kind) => plain.kinds.has(kind))).toEqual([]);
  expect(plain.at.told("agent_thought_chunk")).toMatch(
    /Compacting the conversation.*not compacted.*Compacted 2 messages: from about [\d,]+ to [\d,]+ tokens; the original messages stay in the conversation/s,
  );
});

test("A14: a call is shown while its arguments are written, with the file that it writes, and a title of the conversation is told", async () => {
  const gate = Promise.withResolvers<void>();
  const note = defineTool({
    name: "note",
    description: "Writes a note.",
    input: { type: "object" },
    effects: "external",
    about: () => ({ paths: [{ path: "a.txt", access: "write" }] }),
    execute: () => "noted",
  });
  const scene: Scene = [
    call("note", { path: "a.txt", content: "milk" }, "c1"),
    { type: "until", gate: gate.promise },
    text("."),
  ];
  const editing = await editor({ model: scriptedModel([scene, "Done."]), tools: [note] });
  const sessionId = await editing.begin();
  const saying = editing.say(sessionId, "note it");
  await eventually(() => expect(editing.of("tool_call")).toMatchObject([{ toolCallId: "c1", status: "pending" }]));
  gate.resolve();
  await saying;
  expect(editing.of("tool_call")).toHaveLength(1);
  expect(editing.of("tool_call_update").at(-1)).toMatchObject({
    status: "completed",
    locations: [{ path: `${WORKSPACE}/a.txt` }],
  });
  await editing.page.ask("conversation.rename", { conversation: sessionId, title: "Milk" } as never);
  await eventually(() => expect(editing.of("session_info_update").at(-1)).toMatchObject({ title: "Milk" }));
});

test("A14: a call whose arguments are cut off by an interruption does not stay open", async () => {
  const beginning = parts(
    { type: "call", index: 0, id: "c1", tool: "note" },
    { type: "call-input", index: 0, text: "{" },
  );
  const editing = await editor({ model: scriptedModel([[text("I note."), beginning, stall()]]) });
  const sessionId = await editing.begin();
  const saying = editing.say(sessionId, "note it");
  await eventually(() => expect(editing.of("tool_call")).toMatchObject([{ toolCallId: "c1", status: "pending" }]));
  await editing.agent.notify(session.cancel, { sessionId });
  expect(await saying).toEqual({ stopReason: "cancelled" });
  expect(editing.of("tool_call_update").at(-1)).toMatchObject({ toolCallId: "c1", status: "failed" });
});

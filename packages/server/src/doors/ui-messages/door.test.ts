import { ReadableStream as Streams } from "node:stream/web";
import { Agent, defineTool, say } from "@banyan/core";
import { type Event, type EventBody, emptyConversation, noUsage, reduce } from "@banyan/core/conversation";
import { call, fail, reasoning, scriptedModel, stall, text } from "@banyan/core/testing";
import { readUIMessageStream, type UIMessage, type UIMessageChunk, validateUIMessages } from "ai";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { ask } from "../../testing/request.fixture.ts";
import { serving, TOKEN } from "../../testing/serving.fixture.ts";
import { gated } from "../../testing/talking.fixture.ts";
import { TestClient } from "../../testing/test-client.fixture.ts";
import { Chat, textOf, toolOf } from "../../testing/ui-chat.fixture.ts";
import { uiHistory } from "./history.ts";
import { uiMessageChunks } from "./turn.ts";

const headers = { authorization: `Bearer ${TOKEN}` };

async function exported(address: string, conversation: string) {
  const { body } = await ask(address, `/api/v1/conversations/${conversation}/export`, { headers });
  return (JSON.parse(body) as { events: { type: string; role?: string; parentId?: string }[] }).events;
}

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

test("/api/chat: useChat's own client has text, reasoning, calls and what came of them, goes on, asks again and edits; the tree keeps all of it", async () => {
  const model = scriptedModel([
    [reasoning("Let me see."), text("I look."), call("look", { path: "a" }), call("look", { path: "none" })],
    ...["Done.", "two", "two again", "one in other words"],
  ]);
  const { server } = await serving({ model, tools: [look] });
  const kept = new Chat(server.address, "chat-of-a-page-1");
  await kept.sendMessage({ text: "one" });
  expect([kept.status, kept.error]).toEqual(["ready", undefined]);
  const parts = kept.last?.parts ?? [];
  const kinds = ["step-start", "reasoning", "text", "dynamic-tool", "dynamic-tool", "step-start", "text"];
  expect(parts.map(({ type }) => type)).toEqual(kinds);
  expect(parts[3]).toMatchObject({
    state: "output-available",
    toolName: "look",
    input: { path: "a" },
    output: "saw a",
  });
  expect(parts[4]).toMatchObject({ state: "output-error", errorText: expect.stringContaining("no such file") });
  expect(kept.last?.metadata).toMatchObject({ reason: "answered", run: expect.any(String), cost: null });

  // A page that opens later gets the same messages.
  const { body } = await ask(server.address, "/api/chat/chat-of-a-page-1", { headers });
  const { messages } = JSON.parse(body) as { messages: UIMessage[] };
  await validateUIMessages({ messages });
  expect(messages.map(({ id, role }) => [id, role])).toEqual(kept.messages.map(({ id, role }) => [id, role]));
  const plain = (all: readonly UIMessage[]) =>
    all.map((each) =>
      each.parts.map((part) =>
        "text" in part ? part.text : part.type === "dynamic-tool" ? (part.output ?? part.errorText) : part.type,
      ),
    );
  expect(plain(messages)).toEqual(plain(kept.messages));

  await kept.sendMessage({ text: "more" });
  expect(textOf(kept.last)).toBe("two");
  await kept.regenerate();
  expect(textOf(kept.last)).toBe("two again");
  await kept.sendMessage({ text: "one, please", messageId: kept.messages[0]?.id ?? "" });
  expect([kept.messages.length, textOf(kept.last)]).toEqual([2, "one in other words"]);

  const said = (await exported(server.address, "chat-of-a-page-1")).filter(
    ({ type, role }) => type === "message.added" && role === "user",
  );
  expect(said.map(({ parentId }) => parentId)).toEqual([null, expect.any(String), null]);
});

test("/api/chat: a call that asks ends the stream and not the turn; what the page says to it is the answer, and the same message goes on", async () => {
  const ran: string[] = [];
  const write = defineTool({
    name: "write",
    description: "Writes.",
    input: z.object({ name: z.string() }),
    effects: "external",
    execute: ({ name }) => {
      ran.push(name);
      return `wrote ${name}`;
    },
  });
  const steps = [[call("write", { name: "a" })], "Written.", [call("write", { name: "b" })], "As you like."];
  const { server } = await serving({
    model: scriptedModel(steps),
    tools: [write],
    permission: () => ({ decision: "ask" }),
  });
  const kept = new Chat(server.address, "asks");
  const answer = async (approved: boolean, reads: string) => {
    const part = toolOf(kept.last);
    expect(part).toMatchObject({ state: "approval-requested" });
    const id = part && "approval" in part ? (part.approval?.id ?? "") : "";
    await kept.addToolApprovalResponse({ id, approved });
    await vi.waitFor(() => expect([kept.status, textOf(kept.last)]).toEqual(["ready", reads]), 20_000);
  };
  await kept.sendMessage({ text: "write a" });
  expect(kept.status).toBe("ready");
  await answer(true, "Written.");
  expect(ran).toEqual(["a"]);
  expect(toolOf(kept.last)).toMatchObject({ state: "output-available", output: "wrote a" });
  expect(kept.messages).toHaveLength(2);
  await kept.sendMessage({ text: "write b" });
  await answer(false, "As you like.");
  expect(ran).toEqual(["a"]);
  expect(toolOf(kept.last)).toMatchObject({ state: "output-denied" });
  const later = await ask(server.address, "/api/chat/asks", { headers });
  const { messages } = JSON.parse(later.body) as { messages: UIMessage[] };
  await validateUIMessages({ messages });
  expect(toolOf(messages.at(-1))).toMatchObject({ state: "output-denied", approval: { approved: false } });
});

test("L5: /api/chat gives changed files with the call that changed them", async () => {
  const change = {
    path: "a.md",
    kind: "created",
    before: null,
    after: "v1",
    added: 1,
    removed: 0,
    diff: "+a",
  } as const;
  const state = emptyConversation();
  const head = { epoch: 1, at: 0 };
  const bodies: readonly EventBody[] = [
    {
      type: "message.added",
      message: "m",
      parentId: null,
      role: "user",
      author: "user",
      parts: [{ type: "text", text: "Write." }],
    },
    {
      type: "run.started",
      run: "r",
      agent: "a",
      model: "m",
      mode: "chat",
      settings: {},
      limits: {},
      instructions: "",
      tools: "",
      leaf: "m",
    },
    { type: "message.started", message: "n", parentId: "m", run: "r", model: "m" },
    { type: "call.pending", message: "n", call: "c", tool: "write", inputText: "{}", input: {} },
    {
      type: "message.completed",
      message: "n",
      parts: [{ type: "call", call: "c" }],
      finish: "calls",
      usage: noUsage,
      cost: 0,
    },
    { type: "call.executing", message: "n", call: "c", tool: "write", attempt: 1, key: "c" },
    { type: "file.changed", message: "n", call: "c", ...change },
    { type: "call.completed", message: "n", call: "c", tool: "write", input: {}, output: "Done." },
  ];
  bodies.forEach((body, index) => {
    reduce(state, { ...body, ...head, seq: index + 1 } as Event);
  });
  expect(uiHistory(state)).toMatchObject([{ id: "m" }]);
  reduce(state, { type: "run.ended", run: "r", reason: "answered", leaf: "n", ...head, seq: 9 });
  const { path, kind, added, removed, diff } = change;
  expect(uiHistory(state)).toMatchObject([
    { id: "m" },
    {
      id: "n",
      parts: [
        { type: "step-start" },
        { type: "dynamic-tool", toolCallId: "c", output: "Done." },
        { type: "data-file", id: "c:a.md", data: { path, kind, added, removed, diff } },
      ],
    },
  ]);
});

test("/api/chat: a disconnect does not stop the turn; a returning client gets the turn from its beginning, until it is stopped", async () => {
  const { server } = await serving({ model: scriptedModel([[text("It ", "goes"), stall()]]) });
  const kept = new Chat(server.address, "leaves");
  const sent = kept.sendMessage({ text: "go" });
  await vi.waitFor(() => expect(textOf(kept.last)).toBe("It goes"), 20_000);
  await kept.stop();
  await sent;
  const back = new Chat(server.address, "leaves");
  const resumed = back.resumeStream();
  await vi.waitFor(() => expect(textOf(back.last)).toBe("It goes"), 20_000);
  const stopped = await ask(server.address, "/api/chat/leaves/stop", { method: "POST", headers });
  expect(JSON.parse(stopped.body)).toEqual({ interrupted: 1 });
  await resumed;
  expect(back.chunks.at(-1)).toMatchObject({ type: "abort" });
  const none = await ask(server.address, "/api/chat/leaves/stream", { headers });
  expect([none.status, none.body]).toEqual([204, ""]);
});

test("/api/chat: text sent during a turn is part of the turn's message, and does not appear again after it on a later load", async () => {
  const waits = gated();
  const model = scriptedModel([[call("wait")], "With the gap in mind.", "Any time."]);
  const { server } = await serving({ model, tools: [waits.tool] });
  const kept = new Chat(server.address, "steered");
  const sent = kept.sendMessage({ text: "go" });
  await vi.waitFor(() => expect(toolOf(kept.last)).toMatchObject({ state: "input-available" }), 20_000);
  const steer = { id: "steer", role: "user", parts: [{ type: "text", text: "and mind the gap" }] };
  const body = JSON.stringify({ id: "steered", messages: [...kept.messages, steer] });
  const json = { ...headers, "content-type": "application/json" };
  const also = ask(server.address, "/api/chat", { method: "POST", headers: json, body });
  const client = await TestClient.connect(server);
  const { state } = await client.watch("steered");
  await client.until(() => state.inbox.length === 1);
  waits.open();
  await Promise.all([sent, also]);
  const parts = (message: UIMessage | undefined) => message?.parts.map(({ type }) => type);
  expect(parts(kept.last)).toEqual(["step-start", "dynamic-tool", "steering-message", "step-start", "text"]);
  expect(kept.last?.parts[2]).toMatchObject({ id: "steer", parts: steer.parts });

  const later = await ask(server.address, "/api/chat/steered", { headers });
  const { messages } = JSON.parse(later.body) as { messages: UIMessage[] };
  await validateUIMessages({ messages });
  expect(messages.map(parts)).toEqual(kept.messages.map(parts));
  // The next message comes after all of them.
  const next = new Chat(server.address, "steered");
  next.messages = messages;
  await next.sendMessage({ text: "thanks" });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/mind the gap.*With the gap in mind\..*thanks/);
});

test("/api/chat: a question in words and a limit are data of the message; what goes along with the next request answers them, and the same turn goes on", async () => {
  const wonder = defineTool({
    name: "wonder",
    description: "Asks.",
    effects: "none",
    input: z.object({}),
    execute: (_input, context) => context.ask({ text: "Which colour?", choices: ["red", "blue"] }),
  });
  const model = scriptedModel([[call("wonder")], [call("look", { path: "a" })], "Blue, and seen."]);
  const { server } = await serving({ model, tools: [wonder, look], limits: { steps: 1, policy: "ask" } });
  const kept = new Chat(server.address, "questions");
  const open = () =>
    (kept.last?.parts ?? []).flatMap((part) =>
      part.type === "data-question" && !(part.data as { answered?: true }).answered ? [part] : [],
    );
  const give = (answer: object) =>
    kept.sendMessage(undefined, { body: { answers: open().map(({ id: question }) => ({ question, answer })) } });
  await kept.sendMessage({ text: "ask me" });
  expect(open()).toMatchObject([{ data: { text: "Which colour?", choices: ["red", "blue"] } }]);
  await give({ decision: "answer", text: "blue" });
  expect(open()).toMatchObject([{ data: { limit: true, text: expect.stringContaining("limit of 1 step") } }]);
  // An invalid answer is refused, and the question stays open.
  await give({ decision: "perhaps" });
  expect([kept.status, open().length]).toEqual(["error", 1]);
  kept.clearError();
  await give({ decision: "allow" });
  await give({ decision: "allow" });
  expect([kept.status, textOf(kept.last), open()]).toEqual(["ready", "Blue, and seen.", []]);
  expect(kept.messages).toHaveLength(2);

  const limited = scriptedModel([[call("look", { path: "a" })], "So far."]);
  const other = await serving({ model: limited, tools: [look], limits: { steps: 1 } });
  const ended = new Chat(other.server.address, "limited");
  await ended.sendMessage({ text: "look" });
  expect(ended.chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "length" });
  expect(ended.last?.metadata).toMatchObject({ reason: "limit" });
});

test("/api/chat: a model that fails is an error of the chat; bad input and a guest get a sentence, and nothing begins", async () => {
  const guestToken = "a-guest-of-a-test-0123456789-0123456789";
  const { server } = await serving({ model: scriptedModel([[fail("authentication")]]) }, { guestToken });
  const kept = new Chat(server.address, "fails");
  await kept.sendMessage({ text: "hello" });
  expect([kept.status, kept.error?.message]).toEqual(["error", expect.stringMatching(/./)]);

  const post = async (body: unknown, token = TOKEN) => {
    const given = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    return ask(server.address, "/api/chat", { method: "POST", headers: given, body: sent });
  };
  const user = { id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] };
  const file = { type: "file", url: "file:///etc/passwd", mediaType: "text/plain" };
  const wrong: readonly (readonly [unknown, number, RegExp])[] = [
    ["{", 400, /body/],
    [{ id: "new", messages: [] }, 400, /messages/],
    [{ id: "new", messages: [{ ...user, parts: [] }] }, 400, /is empty/],
    [{ id: "new", messages: [{ ...user, parts: [file] }] }, 400, /address/],
    [{ id: "new", messages: [{ ...user, id: "unknown", role: "assistant" }, user] }, 404, /no message "unknown"/],
    [{ id: "new", messages: [{ ...user, role: "assistant" }] }, 404, /not a response/],
    [{ id: "new", messages: [user], model: "no/such" }, 409, /no\/such/],
  ];
  for (const [body, status, sentence] of wrong) {
    const answer = await post(body);
    expect([answer.status, JSON.parse(answer.body).error.message], JSON.stringify(body)).toEqual([
      status,
      expect.stringMatching(sentence),
    ]);
  }
  expect((await post({ id: "new", messages: [user] }, guestToken)).status).toBe(403);
  expect((await post({ id: "new", messages: [user] }, "wrong")).status).toBe(401);
  const { body } = await ask(server.address, "/api/v1/conversations", { headers });
  expect(JSON.parse(body).conversations.map(({ id }: { id: string }) => id)).toEqual(["fails"]);
});

test("uiMessageChunks tells a chat of a library's user, and the official reader has the message", async () => {
  const model = scriptedModel([[text("I "), call("look", { path: "a" })], "Seen."]);
  const agent = new Agent({ model, tools: [look] });
  const stream: ReadableStream<UIMessageChunk> = Streams.from(uiMessageChunks(agent.chat(say("hello")))) as never;
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  expect(textOf(last)).toBe("I Seen.");
  expect(toolOf(last)).toMatchObject({ state: "output-available", output: "saw a" });
});

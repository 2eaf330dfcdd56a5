import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import type { AssistantMessage, Call, Message } from "../conversation/message.ts";
import { emptyConversation } from "../conversation/state.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { Memory } from "../ports/memory.ts";
import type { PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { call, parts, rawCall, readUntil, reasoning, scriptedModel, stall, text } from "../testing/index.ts";
import { promptFrom } from "./prompt.ts";

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});

test("invariant 2: reloading the log reproduces the request, recalled memory and reasoning data included", async () => {
  const memory: Memory = {
    recall: async () => [{ text: "They like tea.", source: "yesterday" }],
    remember: async () => {},
  };
  const session = Session.inMemory();
  const events: FeedItem[] = [];
  const feed = session.feed();
  const watching = (async () => {
    for await (const item of feed) events.push(item);
  })();
  const model = scriptedModel([
    [
      reasoning("Hm."),
      parts({ type: "part-end", provider: { anthropic: { signature: "sig" } } }),
      text("Looking."),
      call("look"),
      rawCall("look", "{broken"),
    ],
    "Done.",
    "Yes.",
  ]);
  const agent = new Agent({ model, tools: [look], memory: { store: memory }, instructions: "Be kind." });
  await agent.send("What do I like?", { session });
  await agent.send("And else?", { session });
  await session.close();
  await watching;

  const state = emptyConversation();
  for (const item of JSON.parse(JSON.stringify(events)) as Event[]) reduce(state, item);
  const leaf = pathTo(state, state.leaf).at(-2)?.id ?? null;
  const last = model.requests.at(-1);
  expect(JSON.stringify(promptFrom(pathTo(state, leaf)))).toBe(JSON.stringify(last?.messages));
  expect(JSON.stringify(last?.messages)).toContain("They like tea.");
  expect(JSON.stringify(last?.messages)).toContain('"signature":"sig"');
  const started = events.findLast((item) => item.type === "run.started");
  if (started?.type !== "run.started") throw new Error("No run started.");
  expect(state.contents.get(started.instructions)).toBe("Be kind.");
  expect(JSON.parse(state.contents.get(started.tools) ?? "")).toEqual(last?.tools);
});

test("invariant 1, F1: a call without a result is shown as not executed, exactly once, in any state", () => {
  const base = { tool: "look", inputText: "{}", input: {}, attempt: 0, progress: "" };
  const answer: AssistantMessage = {
    id: "a",
    parentId: "u",
    createdAt: 0,
    role: "assistant",
    run: "r",
    model: "m",
    finish: "calls",
    parts: ["p", "q", "x", "d"].map((id) => ({ type: "call", call: id })),
    calls: [
      { ...base, id: "p", status: "pending" },
      { ...base, id: "q", status: "approval-requested" },
      { ...base, id: "x", status: "executing", attempt: 1 },
      { ...base, id: "d", status: "completed", output: "seen" },
    ],
  };
  const user: Message = {
    id: "u",
    parentId: null,
    createdAt: 0,
    role: "user",
    author: "user",
    parts: [{ type: "text", text: "Hi" }],
  };
  const [, shown] = promptFrom([user, answer]);
  expect(shown?.role === "assistant" && shown.results).toEqual([
    { call: "p", tool: "look", output: "Not executed: the process stopped before this call ran.", failed: true },
    { call: "q", tool: "look", output: "Not executed: the process stopped before this call ran.", failed: true },
    {
      call: "x",
      tool: "look",
      output: "The process stopped while this call ran; whether the call took effect is unknown.",
      failed: true,
    },
    { call: "d", tool: "look", output: "seen", failed: false },
  ]);
});

test("settled messages are the same objects from step to step, so that a driver encodes each once", async () => {
  const model = scriptedModel([[call("look")], [call("look")], "Done."]);
  await new Agent({ model, tools: [look] }).send("Hi");
  const [first, second, third] = model.requests.map(({ messages }) => messages);
  expect(second?.[0]).toBe(first?.[0]);
  expect(third?.[1]).toBe(second?.[1]);
});

test("from a summary on, covered messages are left out, and the others stay verbatim", async () => {
  const message = (id: string, text: string): Message => ({
    id,
    parentId: null,
    createdAt: 0,
    role: "user",
    author: "user",
    parts: [{ type: "text", text }],
  });
  const summary: Message = {
    id: "s",
    parentId: "3",
    createdAt: 0,
    role: "summary",
    covers: "2",
    parts: [{ type: "text", text: "short" }],
  };
  const prompt = promptFrom([
    message("1", "one"),
    message("2", "two"),
    message("3", "three"),
    summary,
    message("4", "four"),
  ]);
  expect(prompt.map((shown) => (shown.parts[0]?.type === "text" ? shown.parts[0].text : ""))).toEqual([
    "<summary-of-the-conversation-so-far>\nshort\n</summary-of-the-conversation-so-far>",
    "three",
    "four",
  ]);
});

describe("results that the path marks as shortened", () => {
  const at = { createdAt: 0, run: "r", model: "m" } as const;
  const calls = ["a", "b"].map((id) => ({
    id,
    tool: "look",
    inputText: "{}",
    status: "completed",
    attempt: 1,
    progress: "",
    output: `all of ${id}`,
    files: [{ type: "file", mediaType: "image/png", digest: id, data: "AAAA" }],
  })) as unknown as Call[];
  const parts = calls.map(({ id }) => ({ type: "call", call: id }) as const);
  const answer = { id: "1", parentId: null, role: "assistant", parts, calls, finish: "calls", ...at } as const;
  const shortened = [{ call: "a", text: "Shortened." }];
  const words = [{ type: "text", text: "The result of 1 call is shortened." }] as const;
  const shortening = { id: "s", parentId: "1", createdAt: 0, role: "summary", parts: words, shortened } as const;
  const next = { id: "2", parentId: "s", createdAt: 0, role: "user", author: "user", parts: words } as const;
  const resultsIn = (prompt: readonly PromptMessage[]) =>
    prompt.flatMap((message) => (message.role === "assistant" ? message.results : []));

  test("are shown so, without their files; the message itself is for users alone", () => {
    const prompt = promptFrom([answer, shortening, next]);
    expect(prompt.map(({ role }) => role)).toEqual(["assistant", "user"]);
    const [a, b] = resultsIn(prompt);
    expect(a).toEqual({ call: "a", tool: "look", output: "Shortened.", failed: false });
    expect(b).toMatchObject({ output: "all of b", files: [{ digest: "b" }] });
    expect(resultsIn(promptFrom([answer]))[0]?.output).toBe("all of a");
  });

  test("are the same objects from request to request, also on another branch", () => {
    const other = { ...next, id: "3" };
    expect(promptFrom([answer, shortening, other])[0]).toBe(promptFrom([answer, shortening, next])[0]);
  });

  test("stay shortened after a later summary that does not cover them, and a summary can shorten them too", () => {
    const summary = { id: "t", parentId: "2", createdAt: 0, role: "summary", parts: words } as const;
    expect(resultsIn(promptFrom([answer, shortening, { ...summary, covers: "0" }]))[0]?.output).toBe("Shortened.");
    expect(resultsIn(promptFrom([answer, { ...summary, covers: "0", shortened }]))[0]?.output).toBe("Shortened.");
  });
});

test("B6: a memory that is late is left out, and the feed says so", async () => {
  const memory: Memory = { recall: () => new Promise(() => {}), remember: async () => {} };
  const model = scriptedModel(["ok"]);
  const feed = new Agent({ model, memory: { store: memory, timeout: 10 } }).chat(say("Hi"))[Symbol.asyncIterator]();
  expect(await readUntil(feed, (item) => item.type === "memory.skipped")).toMatchObject({
    reason: "memory did not answer within its timeout of 10 ms",
  });
  await readUntil(feed, (item) => item.type === "chat.ended");
  expect(model.requests[0]?.messages).toHaveLength(1);
});

test("B6: a turn without a valid memory answer continues without memory", async () => {
  const broken: Memory[] = [
    { recall: async () => undefined as never, remember: () => Promise.reject(Object.create(null)) },
    {
      recall: () => {
        throw new Error("no index");
      },
      remember: async () => {},
    },
  ];
  for (const store of broken) {
    const session = Session.inMemory();
    const turn = await new Agent({ model: scriptedModel(["ok"]), memory: { store } }).send("Hi", { session });
    expect(turn.text).toBe("ok");
    expect(session.state.runs.size).toBe(0);
  }
});

test("B6: a turn's recall waits for the previous turn's writing", async () => {
  const kept: string[] = [];
  const memory: Memory = {
    recall: async () => kept.map((text) => ({ text, source: "memory" })),
    remember: async (items) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      kept.push(...items.map(({ text }) => text));
    },
  };
  const session = Session.inMemory();
  const agent = new Agent({ model: scriptedModel(["blue", "yes"]), memory: { store: memory } });
  await agent.send("My colour?", { session });
  await agent.send("Sure?", { session });
  const second = [...session.state.messages.values()].filter((message) => message.role === "user")[1];
  expect(second?.recalled?.map(({ text }) => text)).toEqual(["My colour?", "blue"]);
});

test("a partial answer without a call is followed by a request to continue", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[text("Half"), stall()]]);
  const feed = new Agent({ model }).chat(say("Hi"), { session })[Symbol.asyncIterator]();
  await readUntil(feed, (item) => item.type === "text.delta");
  await feed.return?.();
  const prompt = promptFrom(pathTo(session.state, session.state.leaf));
  expect(prompt).toHaveLength(2);
});

test("an answer that broke off is marked, and reasoning at the end is left out", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[text("Half."), reasoning("And then"), stall()], "Whole."]);
  const agent = new Agent({ model });
  const feed = agent.chat(say("Hi"), { session })[Symbol.asyncIterator]();
  await readUntil(feed, (item) => item.type === "reasoning.delta");
  await feed.return?.();
  await agent.send("Go on", { session });
  const [, half, , whole] = promptFrom(pathTo(session.state, session.state.leaf));
  const by = { role: "assistant", results: [], model: model.id };
  expect(half).toEqual({ ...by, parts: [{ type: "text", text: "Half." }], unfinished: true });
  expect(whole).toEqual({ ...by, parts: [{ type: "text", text: "Whole." }] });
});

test("an answer of nothing but reasoning is not shown", async () => {
  const session = Session.inMemory();
  const model = scriptedModel([[reasoning("Hm."), stall()]]);
  const feed = new Agent({ model }).chat(say("Hi"), { session })[Symbol.asyncIterator]();
  await readUntil(feed, (item) => item.type === "reasoning.delta");
  await feed.return?.();
  expect(promptFrom(pathTo(session.state, session.state.leaf))).toHaveLength(1);
});

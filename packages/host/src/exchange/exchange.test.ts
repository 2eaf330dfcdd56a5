import {
  Agent,
  type ConversationState,
  defineTool,
  type Event,
  emptyConversation,
  reduce,
  retry,
  Session,
  say,
} from "@banyan/core";
import { NotExecutedError } from "@banyan/core/hosts";
import { call, collect, scriptedModel, text } from "@banyan/core/testing";
import { memoryStore } from "@banyan/store/memory";
import { beforeAll, describe, expect, test } from "vitest";
import { ExchangeError, fromJson, toHtml, toJson, toMarkdown } from "./index.ts";

test("S36: exports distinguish a call that did not run from a call that failed", async () => {
  const session = Session.inMemory();
  const tool = (name: string, execute: () => string) =>
    defineTool({ name, description: "", input: { type: "object" }, effects: "external", execute });
  const failing = tool("failing", () => {
    throw new Error("it broke");
  });
  const refusing = tool("refusing", () => {
    throw new NotExecutedError("there is no shell.");
  });
  const model = scriptedModel([[call("failing", {}), call("refusing", {}), call("missing", {})], "Done."]);
  await collect(new Agent({ model, tools: [failing, refusing] }).chat(say("Go."), { session }));
  const outputs = [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls.map(({ output }) => output) : [],
  );
  expect(outputs.slice(0, 2)).toEqual(["The tool failed: it broke", "Not executed: there is no shell."]);
  const markdown = toMarkdown(session.state);
  expect(markdown.match(/^\*\*.*$/gm)).toEqual(["**failing** failed", "**refusing** not run", "**missing** not run"]);
  const html = toHtml(session.state);
  expect(html.match(/<b>\w+<\/b> <span class="[\w-]+">[\w ]+/g)).toEqual([
    '<b>failing</b> <span class="failed">failed',
    '<b>refusing</b> <span class="not-run">not run',
    '<b>missing</b> <span class="not-run">not run',
  ]);
});

test("L6: exports show the result of a call, and an import keeps the text that the model gets in its place", async () => {
  const store = memoryStore();
  const session = await Session.open(store);
  const card = defineTool({
    name: "card",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => "card 4242 4242",
    toModelOutput: () => "a masked card",
  });
  await new Agent({ model: scriptedModel([[call("card")], "Done."]), tools: [card] }).send("Go.", { session });
  for (const page of [toMarkdown(session.state), toHtml(session.state)]) {
    expect(page).toContain("card 4242 4242");
    expect(page).not.toContain("masked");
  }
  await session.close();
  const view = await store.view(session.id);
  const logged: Event[] = [];
  for await (const batch of view.read()) logged.push(...batch);
  const brought = fromJson(toJson(logged)).events.filter(({ type }) => type === "call.completed");
  expect(brought).toMatchObject([{ output: "card 4242 4242", modelOutput: "a masked card" }]);
});

/** F4: characters that break programs which cut or convert text. */
const UNICODE = '👩‍👩‍👧 e\u0301 عربى \u202e \u0000 \ud800 \u2028 "\\ </script> ``` ~~~ <b>';

let events: Event[];
let state: ConversationState;

/** A conversation with calls, a branch, marks, a removed message and a queued message. */
beforeAll(async () => {
  const store = memoryStore();
  const session = await Session.open(store, undefined, { labels: { cwd: "/here" } });
  const echo = defineTool({
    name: "echo",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: () => `said\n\`\`\`\n${UNICODE}`,
  });
  const model = scriptedModel([
    [text(`Well, ${UNICODE}`), call("echo", { words: UNICODE })],
    "Red.",
    "Blue.",
    "Never.",
  ]);
  const agent = new Agent({ name: "banyan", model, tools: [echo] });
  await collect(agent.chat(say(`A colour? ${UNICODE}`), { session }));
  await collect(agent.chat(retry(), { session }));
  await collect(agent.chat(retry("Another?"), { session }));
  const [, blue] = session.state.children.get([...session.state.messages.keys()][0] ?? null) ?? [];
  await session.notes.label(blue ?? "", "the blue one");
  await session.notes.star(blue ?? "", true);
  await session.notes.remove(session.state.leaf ?? "");
  await session.say([{ type: "text", text: "later" }], { delivery: "queue" });
  await session.close();
  events = await logOf(store, session.id);
  state = reduced(events);
});

async function logOf(store: ReturnType<typeof memoryStore>, id: string): Promise<Event[]> {
  const log = await store.open(id);
  const all: Event[] = [];
  for await (const batch of log.read()) all.push(...batch);
  await log.close();
  return all;
}

function reduced(all: readonly Event[]): ConversationState {
  const made = emptyConversation();
  for (const event of all) reduce(made, event);
  return made;
}

test("S12: exports contain no terminal sequences, and JSON is read back completely", async () => {
  const evil = "a\u001b]52;c;ZXZpbA==\u0007\u009b31m\u202eb\u2066\r\nc";
  const session = Session.inMemory();
  await new Agent({ model: scriptedModel([evil]) }).send(evil, { session });
  for (const exported of [toMarkdown(session.state), toHtml(session.state)]) {
    expect(exported).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u);
    expect(exported).toContain("a\\u{1b}]52;c;ZXZpbA==\\u{7}\\u{9b}31m\\u{202e}b\\u{2066}\nc");
  }
  expect(toJson(events)).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/u);
  expect(fromJson(toJson(events)).events).toEqual(events);
});

test("B54: a title has the typed text, without attached files", async () => {
  const untitled = await Session.open(memoryStore());
  const parts = ["what is in @notes.txt?", '<file name="notes.txt">\nsecret plans\n</file>'];
  const agent = new Agent({ name: "banyan", model: scriptedModel(["Plans."]) });
  const said = say(parts.map((words) => ({ type: "text", text: words })));
  await collect(agent.chat(said, { session: untitled }));
  expect(toMarkdown(untitled.state)).toMatch(/^# what is in @notes\.txt\?\n/);
  expect(toHtml(untitled.state)).toContain("<title>what is in @notes.txt?</title>");
});

describe("B56: JSON", () => {
  test("F4: restores branches, calls, marks, removed messages and waiting texts", () => {
    const read = fromJson(toJson(events));
    expect(read).toEqual({ id: state.id, events });
    expect(reduced(read.events)).toEqual(state);
    expect(state.inbox).toHaveLength(1);
    expect([...state.messages.values()].some(({ removed }) => removed)).toBe(true);
  });

  test("has one event on a line", () => {
    const lines = toJson(events).trimEnd().split("\n").slice(4, -2);
    expect(lines.map((line) => JSON.parse(line.replace(/,$/, "")))).toEqual(events);
  });

  test("keeps content of a newer version", () => {
    const newer = { ...events.at(-1), seq: 10_000, type: "moon.risen", phase: "full" } as unknown as Event;
    const extra = events.map((event) => ({ ...event, mood: "blue" }));
    expect(fromJson(toJson([...extra, newer])).events).toEqual([...extra, newer]);
  });

  test("F106: names content that this version does not know, and loses nothing of it", () => {
    const at = (event: object, more: object) => ({ ...event, ...more }) as unknown as Event;
    const said = events.findIndex((event) => event.type === "message.added");
    const answered = events.findIndex((event) => event.type === "message.completed");
    const part = { type: "hologram", metres: 3 };
    const newer = events.map((event, index) => {
      if (index !== said && index !== answered) return event;
      return at(event, { parts: [...(event as unknown as { parts: object[] }).parts, part] });
    });
    const last = events.at(-1) as Event;
    for (const [add, type] of ["moon.risen", "moon.risen", "sun.set"].entries())
      newer.push(at(last, { type, seq: last.seq + 1 + add }));
    const read = fromJson(toJson(newer));
    expect(read.events).toEqual(newer);
    expect(read.unknown).toBe(
      "This version of Banyan does not understand 5 entries of the export, but keeps them: message.added with a part of type hologram (1), message.completed with a part of type hologram (1), moon.risen (2), sun.set (1).",
    );
    expect(toJson(read.events)).toBe(toJson(newer));
  });

  function changed(index: number, change: object): string {
    const file: { events: object[] } = JSON.parse(toJson(events));
    file.events[index] = { ...file.events[index], ...change };
    return JSON.stringify(file);
  }
  const indexOf = (type: string) => events.findIndex((event) => event.type === type);

  test.each<[string, () => string, string]>([
    [
      "is no JSON",
      () => toJson(events).replace('"version": 1,', '"version": 1'),
      'line 4, column 1: the JSON is not valid at "',
    ],
    ["ends too early", () => toJson(events).slice(0, -20), "the JSON ends too early"],
    ["is something else", () => "[]", 'the file: expected an object with format "banyan-conversation"'],
    ["has no format", () => "{}", 'format: expected "banyan-conversation"'],
    [
      "is of a newer version",
      () => toJson(events).replace('"version": 1', '"version": 2'),
      "version: expected 1; a newer",
    ],
    ["is empty", () => toJson([]), "events: expected at least one event"],
    ["has something that is no event", () => toJson([...events, 5 as never]), "event %N: the event: Invalid input"],
    [
      "lacks the beginning",
      () => toJson(events.filter(({ type }) => !type.startsWith("message.") && type !== "conversation.created")),
      "event 1: expected conversation.created",
    ],
    [
      "has an id that can be none",
      () => changed(0, { id: ".." }),
      "event 1 (conversation.created): id: expected 1 to 128 characters",
    ],
    [
      "has a message whose id can be none",
      () => changed(indexOf("message.started"), { message: "a\u0000b" }),
      "(message.started): message: expected 1 to 128 characters",
    ],
    ["has events out of order", () => changed(2, { seq: 1 }), "seq: expected more than 2"],
    [
      "has a part that is none",
      () => changed(indexOf("message.completed"), { parts: [{ type: "text" }] }),
      "(message.completed): parts.0.text: Invalid input",
    ],
    [
      "has a message below none",
      () => changed(indexOf("message.started"), { parentId: "nobody" }),
      "(message.started): parentId: there is no message nobody before it",
    ],
    [
      "has a circle",
      () =>
        changed(indexOf("message.added"), {
          parentId: (events[indexOf("message.added")] as { message?: string }).message,
        }),
      "before it",
    ],
  ])("is refused, with the place, when it %s", (_name, make, message) => {
    const file = make();
    expect(() => fromJson(file)).toThrow(ExchangeError);
    expect(() => fromJson(file)).toThrow(message.replace("%N", String(events.length + 1)));
  });
});

describe("B56: Markdown", () => {
  test("W80: an id with Markdown characters appears unchanged", () => {
    const state = emptyConversation("[a](b) *c* `d` <e>");
    expect(toMarkdown(state)).toContain("Conversation \\[a\\](b) \\*c\\* \\`d\\` \\<e\\>, begun");
  });

  test("is one branch with its calls, and fences enclose any content", () => {
    const [first] = [...state.messages.keys()];
    const red = (state.children.get(first ?? null) ?? [])[0];
    const end = state.children.get(red ?? null)?.[0] ?? null;
    const markdown = toMarkdown(state, end);
    expect(markdown).toMatch(/^# A colour\? /);
    expect(markdown).toContain("## You\n\nA colour?");
    expect(markdown).toContain(`## ${modelName()}\n\nWell, `);
    expect(markdown).toContain('**echo** completed\n\n````json\n{\n  "words": ');
    expect(markdown).toContain("````text\nsaid\n```\n");
    expect(markdown).toContain("Red.");
    expect(markdown).not.toContain("Blue.");
  });
});

describe("B56: HTML", () => {
  test("loads nothing, runs nothing, and shows messages as written", () => {
    const html = toHtml(state);
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/<script|<link|<iframe|src="http|url\(/i);
    expect(html).not.toContain("<b>\n");
    expect(html).toContain("&#60;/script&#62;");
    expect(html).toContain("A colour?");
  });

  test("S12, W73: Markdown appears as on the page, and nothing in it loads, runs or leads anywhere by itself", async () => {
    const session = Session.inMemory();
    const evil =
      "**b** <img src=x onerror=alert(1)> [a](javascript:alert(1)) ![p](https://evil.example/p.png)\n\n| a |\n|---|\n| 1 |";
    await new Agent({ model: scriptedModel([evil]) }).send(evil, { session });
    const html = toHtml(session.state);
    expect(html).toContain("<strong>b</strong>");
    expect(html).toContain("<td>1</td>");
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(html).not.toMatch(/<img|href="javascript|<script|<style[^>]*src/);
    expect(html).toContain('<a href="https://evil.example/p.png">p</a>');
    // A user's message is shown unchanged.
    expect(html).toContain('<div class="text">**b** &#60;img');
  });

  test("W73, K7: only two tildes strike out text, and columns keep their alignment", async () => {
    const session = Session.inMemory();
    const answer = "Takes ~3~5 minutes. ~~gone~~\n\n| a | b | c |\n|---|:-:|--:|\n| 1 | 2 | 3 |";
    await new Agent({ model: scriptedModel([answer]) }).send("How long?", { session });
    const html = toHtml(session.state);
    expect(html.match(/<del>.*?<\/del>/g)).toEqual(["<del>gone</del>"]);
    expect(html).toContain('<td>1</td>\n<td align="center">2</td>\n<td align="right">3</td>');
    // A rule of the page for all cells would have priority over the attribute.
    const rules = html.match(/[^\n]*text-align[^\n]*/g) ?? [];
    expect(rules.filter((rule) => /\bt[dh](?!:not\(\[align\]\))/.test(rule))).toEqual([]);
  });

  test("W73: the export shows file changes of calls and the work of sub-agents", () => {
    const made = emptyConversation();
    const place = { epoch: 1, at: 0 };
    const change = { path: "a.txt", kind: "created", before: null, after: "x", added: 1, removed: 0 } as const;
    const usage = { input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    const call = { message: "m", call: "c", tool: "launch_agent" };
    const events = [
      { type: "message.started", message: "m", parentId: null, run: "r", model: "a/b" },
      { type: "call.pending", ...call, inputText: "{}", input: { task: "look" } },
      { type: "message.completed", message: "m", parts: [{ type: "call", call: "c" }], finish: "calls", usage },
      {
        type: "message.added",
        message: "s",
        parentId: null,
        call: "c",
        role: "user",
        parts: [{ type: "text", text: "look" }],
      },
      { type: "file.changed", message: "m", call: "c", ...change, diff: "@@ -0,0 +1,1 @@\n+<one>\n" },
      { type: "call.completed", ...call, output: "done" },
    ] as const;
    for (const [index, event] of events.entries()) reduce(made, { ...event, ...place, seq: index + 1 });
    const html = toHtml(made);
    expect(html).toMatch(
      /<details><summary><b>launch_agent<\/b>[\s\S]*<article class="user">[\s\S]*look[\s\S]*<\/details>/,
    );
    expect(html).toContain('<span class="added">&#60;one&#62;</span>');
  });

  test("has each branch except removed ones, each opens where it begins, and each element closes", () => {
    const html = toHtml(state);
    for (const said of ["Red.", "Blue."]) expect(html.split(`>${said}<`)).toHaveLength(2);
    expect(html).not.toContain("Never.");
    expect(html).toContain("[the blue one]</small> ★");
    expect(html.match(/<details/g)).toHaveLength(html.match(/<\/details>/g)?.length ?? 0);
    expect(html.match(/<article/g)).toHaveLength([...state.messages.values()].filter(({ removed }) => !removed).length);
  });

  test("links only to addresses of the web, and shows only pictures as pictures", () => {
    const [id = ""] = [...state.messages.keys()];
    const parts = [
      { type: "source", url: "javascript:alert(1)", title: "a trap" },
      { type: "source", url: "https://example.org/?a=1&b=2", title: "a page" },
      { type: "file", mediaType: 'image/png" onload="x', data: "AAAA" },
      { type: "file", mediaType: "image/png", data: "AAAA", name: "dot" },
    ] as never;
    const made = { ...state, messages: new Map(state.messages) };
    const message = made.messages.get(id);
    if (message) made.messages.set(id, { ...message, parts });
    const html = toHtml(made);
    expect(html).not.toContain("javascript:");
    expect(html).toContain('<a href="https://example.org/?a=1&#38;b=2" rel="noreferrer">a page</a>');
    expect(html.match(/<img/g)).toHaveLength(1);
    expect(html).toContain('<img src="data:image/png;base64,AAAA"');
  });

  test("does not give up on a long branch or on many branches", () => {
    const many = emptyConversation();
    const add = (seq: number, message: string, parentId: string | null) =>
      reduce(many, {
        type: "message.added",
        message,
        parentId,
        role: "user",
        parts: [{ type: "text", text: message }],
        seq,
        epoch: 1,
        at: 0,
      });
    let seq = 0;
    for (let depth = 0; depth < 20_000; depth++) add(++seq, `m${depth}`, depth === 0 ? null : `m${depth - 1}`);
    for (let branch = 0; branch < 2_000; branch++) add(++seq, `b${branch}`, branch === 0 ? "m5" : `b${branch - 1}`);
    for (let branch = 0; branch < 2_000; branch++) add(++seq, `c${branch}`, `b${branch}`);
    expect(toHtml(many).match(/<article/g)).toHaveLength(24_000);
  });
});

function modelName(): string {
  const answer = [...state.messages.values()].find((message) => message.role === "assistant");
  return answer?.role === "assistant" ? answer.model : "";
}

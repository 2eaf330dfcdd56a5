import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { shortenConversation } from "../agent/control/shorten-conversation.ts";
import { resume, say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { type Message, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest, PromptMessage } from "../ports/model.ts";
import { promptFrom } from "../run/prompt.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { call, fail, finishTask, type Scene, scriptedModel, spend, stall, text } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";

/** Long enough to be a summary. */
const NOTHING = "The work continues. ".repeat(12).trim();

/** The text of a prompt. */
function said(messages: readonly PromptMessage[]): string {
  return messages
    .flatMap((message) => [
      ...message.parts.map((part) => ("text" in part ? part.text : "")),
      ...(message.role === "assistant" ? message.results.map(({ output }) => output) : []),
    ])
    .join("\n");
}

const isSummary = ({ messages }: ModelRequest) => said(messages.slice(-1)).startsWith("Sum up the conversation");
const tokens = (messages: readonly PromptMessage[]) => Math.ceil(said(messages).length / 4);
const behind = (request: ModelRequest | undefined) => said(request?.messages.slice(0, 1) ?? []);
const wordsIn = (text: string) =>
  [...text.matchAll(/<(message|task)>\n([\s\S]*?)\n<\/\1>/g)].map(([, , words = ""]) => words);

let looked = 0;
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => String(++looked),
});

/** A large response; results of calls would be shortened before a summary is made (F91). */
const looks = (): Scene => [text(String(looked).padStart(800, "x")), call("look")];

/** An agent whose model refuses requests larger than this window. */
function playing(
  scene: (request: ModelRequest, index: number) => Scene,
  { window = 4_000, ...options }: Partial<AgentOptions> & { readonly window?: number } = {},
) {
  const model = scriptedModel((request, index) => {
    const input = tokens(request.messages);
    if (input > window) return [fail("context-overflow")];
    const own = scene(request, index);
    return [spend({ input, output: 5 }), ...(typeof own === "string" ? [text(own)] : own)];
  });
  return {
    model,
    agent: new Agent({ model, tools: [look], compaction: { contextSize: window, background: false }, ...options }),
  };
}

/** Calls `look` this many times in each turn, and then ends it. */
function looking(times: number, summary: Scene = NOTHING) {
  let left = times;
  return (request: ModelRequest): Scene => {
    if (isSummary(request)) return summary;
    if (left-- > 0) return looks();
    left = times;
    return "Done.";
  };
}

const summaries = ({ state }: Session) => [...state.messages.values()].filter((message) => message.role === "summary");

const ORDERS = ["Use tabs.", "Name the file fig.ts.", "No: name it plum.ts.", "Test it.", "Write German."];

async function order(agent: Agent, session: Session, orders: readonly string[] = ORDERS) {
  for (const each of orders) await agent.send(each, { session });
}

describe("F86: context after an empty summary", () => {
  test("the user's words keep their order after many summaries, and all fits 40 % of the room", async () => {
    const { agent, model } = playing(looking(9));
    const session = Session.inMemory();
    await order(agent, session, [...ORDERS, ...ORDERS.map((each) => `${each} Again.`)]);
    expect(summaries(session).length).toBeGreaterThan(3);
    await agent.send("Goodbye.", { session });
    const last = model.requests.findLast((request) => !isSummary(request));
    const text = said(last?.messages ?? []);
    const places = ORDERS.map((each) => text.indexOf(`\n${each}\n`));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    for (const [index, request] of model.requests.entries()) {
      const before = model.requests[index - 1];
      if (!before || !isSummary(before) || isSummary(request)) continue;
      // Unanswered messages, here the last result, are not included.
      expect(tokens(request.messages.slice(0, -1))).toBeLessThanOrEqual(4_000 * 0.4);
    }
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("the task of a run and of a sub-agent is verbatim in each request", async () => {
    const task = "Count the trees of the park, and of no other one.";
    let steps = 0;
    const { agent, model } = playing(
      (request) => {
        if (isSummary(request)) return NOTHING;
        const isChild = said(request.messages).includes("The result must contain");
        if (!isChild && steps === 0) return [call("launch_agent", { task, expected_output: "a number" })];
        return ++steps % 40 > 0 ? looks() : [finishTask("three")];
      },
      { mode: "task", tools: [look, launchAgent()] },
    );
    const session = Session.inMemory();
    const turn = await agent.send("Have the trees counted.", { session });
    expect(turn.result).toBe("three");
    const after = model.requests.filter((request) => behind(request).includes(NOTHING) && !isSummary(request));
    expect(after.length).toBeGreaterThan(20);
    const found = new Set(after.flatMap((request) => wordsIn(behind(request))));
    expect([...found]).toEqual([`${task}\n\nThe result must contain: a number`, "Have the trees counted."]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("two simultaneous branches keep their own words", async () => {
    const { agent, model } = playing(looking(9));
    const session = Session.inMemory();
    const begun = await agent.send("Begin.", { session });
    const at = begun.message?.id ?? "";
    const on = async (branch: string) => {
      let leaf = at;
      for (let turn = 1; turn <= 3; turn++)
        leaf = (await agent.send(`${branch} ${turn}.`, { session, at: leaf })).message?.id ?? "";
    };
    await Promise.all([on("Left"), on("Right")]);
    for (const request of model.requests.slice(-8)) {
      const text = said(request.messages);
      expect(text.includes("Left 1.") && text.includes("Right 1.")).toBe(false);
    }
    const texts = model.requests.map(({ messages }) => said(messages));
    expect(texts.some((text) => /Begin\.\n[\s\S]*Left 1\.\n/.test(text) && text.includes(NOTHING))).toBe(true);
    expect(texts.some((text) => /Begin\.\n[\s\S]*Right 1\.\n/.test(text) && text.includes(NOTHING))).toBe(true);
  });

  test.each(["shorten_conversation", "compact"] as const)("%s keeps them too", async (how) => {
    let asked = false;
    const { agent, model } = playing(
      (request) => {
        if (isSummary(request)) return NOTHING;
        if (said(request.messages.slice(-1)) !== "Shorten it." || asked || how === "compact")
          return "Because ".repeat(90);
        asked = true;
        return [call("shorten_conversation", { summary: NOTHING })];
      },
      { tools: [look, shortenConversation()], window: 100_000 },
    );
    const session = Session.inMemory();
    await order(agent, session);
    if (how === "compact") expect(await agent.compact({ session })).toBeUndefined();
    await agent.send("Shorten it.", { session });
    expect(summaries(session)).toHaveLength(1);
    await agent.send("And now?", { session });
    const shown = said(model.requests.at(-1)?.messages ?? []);
    const places = ORDERS.map((each) => shown.indexOf(each));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  test("a long message is cut in its middle between characters, and a line counts the cut part", async () => {
    const family = "👨‍👩‍👧‍👦";
    const { agent, model } = playing(looking(9));
    const session = Session.inMemory();
    await agent.send(`First ${family.repeat(300)} last.`, { session });
    const orders = Array.from({ length: 12 }, (_, index) => `Order ${index}: ${"word ".repeat(60)}end ${index}.`);
    // A short message has room, but a later message without room may correct it.
    await order(agent, session, ["Short.", ...orders]);
    const request = model.requests.findLast((each) => behind(each).includes(NOTHING) && !isSummary(each));
    const [first = "", ...others] = wordsIn(behind(request));
    expect(first).toMatch(/^First [\s\S]+\[… [\d,]+ characters are left out here …\][\s\S]+ last\.$/);
    expect(first.replace(/^First |\n\[.*\]\n| last\.$/g, "").replaceAll(family, "")).toBe("");
    // A quarter of 12 % of the room of 4,000 tokens.
    expect(first.length / 4).toBeLessThanOrEqual(120);
    const numbers = others.map((words) => Number(/^Order (\d+): (?:word )+end \1\.$/.exec(words)?.[1]));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    const [, counted] = /(\d+) other messages? of the user (?:is|are) not shown\./.exec(behind(request)) ?? [];
    expect(Number(counted)).toBe(1 + (numbers[0] ?? 0));
  });

  test("pasted logs do not displace short orders: the older of them are cut more", async () => {
    const { agent, model } = playing(looking(9));
    const session = Session.inMemory();
    const pastes = Array.from({ length: 4 }, (_, index) => `Log ${index}: ${"line ".repeat(500)}end ${index}.`);
    await order(agent, session, ["Hello.", ...ORDERS, ...pastes, "And now?"]);
    const request = model.requests.findLast((each) => behind(each).includes(NOTHING) && !isSummary(each));
    const words = wordsIn(behind(request));
    expect(words).toEqual(expect.arrayContaining([...ORDERS]));
    const logs = words.filter((each) => each.startsWith("Log "));
    expect(logs.length).toBeGreaterThan(2);
    for (const log of logs)
      expect(log).toMatch(/^Log (\d): [\s\S]+\[… [\d,]+ characters are left out here …\][\s\S]+ \1\.$/);
    const lengths = logs.map(({ length }) => length);
    expect(lengths).toEqual(lengths.toSorted((one, other) => one - other));
    expect(lengths.at(-1)).toBeGreaterThan(2 * (lengths[0] ?? 0) * 0.9);
    expect(behind(request)).not.toMatch(/other messages? of the user/);
  });

  test("attached files, results of commands and messages of the program are none of the user's words", async () => {
    const { agent, model } = playing(looking(12));
    const session = Session.inMemory();
    const file = `<file name="notes.md">\n${"secret plan ".repeat(20)}\n</file>`;
    await agent.send(
      [
        { type: "text", text: "Read this." },
        { type: "text", text: file },
      ],
      { session },
    );
    await session.add("The program says so.", { author: "system" });
    await agent.send("Go on.", { session });
    await agent.send("And on.", { session });
    const request = model.requests.findLast((each) => behind(each).includes(NOTHING) && !isSummary(each));
    expect(wordsIn(behind(request))).toEqual(expect.arrayContaining(["Read this."]));
    expect(behind(request)).not.toMatch(/secret plan|The program says so/);
    expect(behind(request)).toContain("Files that the user attached:\n- notes.md");
  });

  test("a removed message is gone, and the same path gives the same bytes", async () => {
    const { agent } = playing(looking(9));
    const session = Session.inMemory();
    await order(agent, session);
    const path = pathTo(session.state, session.state.leaf);
    const bytes = JSON.stringify(promptFrom(path));
    expect(JSON.stringify(promptFrom(structuredClone(path)))).toBe(bytes);
    expect(bytes).toContain("Name the file fig.ts.");
    const without = path.map((message) =>
      textOf(message) === "Name the file fig.ts." ? { ...message, removed: true } : message,
    );
    expect(JSON.stringify(promptFrom(without))).not.toContain("Name the file fig.ts.");
  });
});

describe("F86: a reopened conversation", () => {
  test("has the same request, byte for byte, and keeps the user's words after the next summaries", async () => {
    const events: Event[] = [];
    const first = playing(looking(9));
    const before = await Session.open(storeOf(events), "x");
    await order(first.agent, before);
    const bytes = JSON.stringify(promptFrom(pathTo(before.state, before.state.leaf)));
    await before.close();
    const session = await Session.open(storeOf(events), "x");
    expect(JSON.stringify(promptFrom(pathTo(session.state, session.state.leaf)))).toBe(bytes);
    const { agent, model } = playing(looking(9));
    await order(agent, session, ["Six.", "Seven."]);
    const request = model.requests.findLast((each) => !isSummary(each));
    expect(wordsIn(behind(request))).toEqual(expect.arrayContaining([...ORDERS]));
  });

  test("with summaries of an earlier version looks the same, and the next summary keeps the words of the whole path", async () => {
    const events: Event[] = [];
    const first = playing(looking(9));
    const before = await Session.open(storeOf(events), "x");
    await order(first.agent, before);
    await before.close();
    const old = events.map((event) => {
      if (event.type !== "message.added" || event.role !== "summary") return event;
      const { kept: _, leftOut: __, state: ___, note: ____, ...rest } = event;
      return rest;
    });
    const session = await Session.open(storeOf(old), "x");
    const [stands] = promptFrom(pathTo(session.state, session.state.leaf));
    const summary = `<summary-of-the-conversation-so-far>\n${NOTHING}\n</summary-of-the-conversation-so-far>`;
    expect(stands).toEqual({ role: "user", parts: [{ type: "text", text: summary }] });
    const { agent, model } = playing(looking(12));
    await order(agent, session, ["Six.", "Seven."]);
    expect(wordsIn(behind(model.requests.findLast((each) => !isSummary(each))))).toEqual(
      expect.arrayContaining(ORDERS),
    );
  });

  test("with a window keeps its newest summary with words and state when their messages are forgotten", async () => {
    const { agent, model } = playing(looking(9));
    const events: Event[] = [];
    const session = await Session.open(storeOf(events), "x", { window: 6 });
    await order(agent, session);
    expect(session.state.messages.size).toBeLessThan(30);
    await order(agent, session, ["Six.", "Seven.", "Eight."]);
    const request = model.requests.findLast((each) => !isSummary(each));
    expect(wordsIn(behind(request))).toEqual(expect.arrayContaining(ORDERS));
    expect(behind(request)).not.toContain("not shown");
    const leaf = session.state.leaf;
    const path = pathTo(session.state, leaf);
    expect(new Set(path).size).toBe(path.length);
    expect(path.filter(({ role }) => role === "summary")).toHaveLength(1);
    expect(session.state.children.get(null)).toEqual([path[0]?.id]);
    // The log has all messages, also those that the path in memory skips.
    const whole = await Session.open(storeOf(structuredClone(events)), "x");
    const ids = (messages: readonly Message[]) => messages.map(({ id }) => id);
    expect(ids(await session.wholePath(path))).toEqual(ids(pathTo(whole.state, leaf)));
    expect(ids(path)).not.toEqual(ids(pathTo(whole.state, leaf)));
  });
});

test("F87: the block takes at most 5 % of the room, and counts the files that have no room", async () => {
  const read = defineTool({
    name: "read",
    description: "",
    input: { type: "object" },
    effects: "none",
    execute: (_, { saw }) => {
      for (let file = 0; file < 10; file++) saw({ path: `folder/file-${++looked}.ts`, digest: "digest" });
      return "Read.";
    },
  });
  let left = 20;
  const { agent, model } = playing(
    (request) => (isSummary(request) ? NOTHING : left-- > 0 ? [text("x".repeat(800)), call("read")] : "Done."),
    { tools: [read] },
  );
  const session = Session.inMemory();
  await agent.send("Read all.", { session });
  await agent.send("And now?", { session });
  const [, block = ""] =
    /<state-of-the-work>\n([\s\S]*?)\n<\/state-of-the-work>/.exec(behind(model.requests.at(-1))) ?? [];
  const listed = block.match(/^- read folder\/file-\d+\.ts$/gm) ?? [];
  const [, missing] = /^\((\d+) more not listed\)$/m.exec(block) ?? [];
  expect(listed.length).toBeGreaterThan(5);
  expect(Number(missing) % 10).toBe((10 - (listed.length % 10)) % 10);
  expect(block.length / 4).toBeLessThanOrEqual(4_000 * 0.05);
});

test("F87: a process that a block lists as running is reported as ended at the end when the turn continues after a restart", async () => {
  const events: Event[] = [];
  const start = defineTool({
    name: "start",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute: (_, { stay }) => stay({ title: "npm run dev", over: new Promise(() => {}), end: () => {} }),
  });
  let index = 0;
  const gate = Promise.withResolvers<void>();
  const first = playing(
    (request) => {
      if (isSummary(request)) return NOTHING;
      if (++index === 1) return [call("start")];
      if (index < 22) return looks();
      gate.resolve();
      return [text("Half"), stall()];
    },
    { tools: [look, start] },
  );
  const killed = await Session.open(storeOf(events), "x");
  const turn = first.agent.send("Start it.", { session: killed });
  await gate.promise;
  const log = structuredClone(events);
  const listing = first.model.requests.findLast((each) => behind(each).includes(NOTHING));
  expect(behind(listing)).toContain("Running in the background:\n- p1: npm run dev");
  killed.interrupt();
  await turn;
  const session = await Session.open(storeOf(log), "x");
  const { agent, model } = playing(() => "I see.", { tools: [look, start] });
  await collect(agent.chat(resume(), { session }));
  const end = "p1 (npm run dev) has ended: the program that started the process stopped.";
  expect(said(model.requests.at(-1)?.messages.slice(1) ?? [])).toContain(end);
  await collect(agent.chat(say("And?"), { session }));
  expect(said(model.requests.at(-1)?.messages ?? []).split(end)).toHaveLength(2);
  expect(checkConversation(session.state)).toEqual([]);
});

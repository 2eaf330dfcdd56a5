import { describe, expect, test, vi } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { say } from "../agent/directive.ts";
import type { Event } from "../conversation/event.ts";
import { textOf } from "../conversation/message.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver, ModelRequest, PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import {
  type Beat,
  call,
  end,
  fail,
  finishTask,
  type Scene,
  scriptedModel,
  spend,
  stall,
  text,
} from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";

/** A model that enforces its window, counts as providers do, and writes the summaries of a test. */
function limitedModel(window: number, write: (request: ModelRequest, summaries: number) => Scene, act: Scene[] = []) {
  let summaries = 0;
  let steps = 0;
  let refused = 0;
  const model = scriptedModel((request) => {
    const size = sizeOf(request);
    if (size > window) {
      refused++;
      return [fail("context-overflow")];
    }
    const scene = isSummary(request) ? write(request, summaries++) : (act[steps++] ?? "Done.");
    const beats: readonly Beat[] = typeof scene === "string" ? [text(scene)] : scene;
    return [spend({ input: size, output: 10 }), ...beats];
  });
  return Object.assign(model, { refusals: () => refused });
}

/** Words of a message for a judge, without text added by the program. */
function wordsOf(message: PromptMessage): string {
  const said = message.parts.map((part) =>
    part.type === "text" ? part.text : part.type === "call" ? JSON.stringify(part.input) : "",
  );
  return [...said, ...(message.role === "assistant" ? message.results.map(({ output }) => output) : [])].join("\n");
}

const allWords = (messages: readonly PromptMessage[]) => messages.map(wordsOf).join("\n");
const sizeOf = ({ instructions, tools, messages }: ModelRequest) =>
  Math.ceil((instructions.length + JSON.stringify(tools).length + allWords(messages).length) / 4);
const isSummary = ({ messages }: ModelRequest) =>
  /^(Sum up the conversation|Your summary is too long)/.test(allWords(messages.slice(-1)));

const SUM = "All that counts of the conversation so far is summed up in this text. ".repeat(4).trim();
const filler = (mark: string, characters: number) => `${mark} `.padEnd(characters, "lorem ipsum ");

function play(model: ModelDriver, contextSize: number | undefined, options: Partial<AgentOptions> = {}) {
  const session = Session.inMemory();
  const agent = new Agent({
    model,
    compaction: { background: false, ...(contextSize && { contextSize }) },
    ...options,
  });
  return { session, agent };
}

const summariesIn = ({ state }: Session) =>
  [...state.messages.values()].flatMap((message) => (message.role === "summary" ? [message] : []));

describe("F88: a summary covers only the messages that it replaces, from the oldest on", () => {
  test("the newest message is not in the summary's request, whose head is that of the last request", async () => {
    const model = limitedModel(4_000, () => SUM);
    const { session, agent } = play(model, 4_000);
    for (let index = 1; index <= 7; index++) await agent.send(filler(`mark${index}`, 2_000), { session });
    const at = model.requests.findIndex(isSummary);
    const [before, summary] = [model.requests[at - 1], model.requests[at]] as [ModelRequest, ModelRequest];
    expect(allWords(summary.messages)).not.toContain(`mark${at + 1}`);
    const same = summary.messages.findIndex((message, index) => message !== before.messages[index]);
    expect(same).toBe(summary.messages.length - 1);
    expect(summary).toMatchObject({ instructions: before.instructions, tools: before.tools, toolChoice: "auto" });
    expect(sizeOf({ ...summary, messages: summary.messages.slice(0, same) }) / sizeOf(summary)).toBeGreaterThan(0.8);
  });

  test("L6: the agent's stop texts do not cut a summary", async () => {
    const model = limitedModel(4_000, () => SUM);
    const { session, agent } = play(model, 4_000, { settings: { stop: ["END"], seed: 7 } });
    for (let index = 1; index <= 7; index++) await agent.send(filler(`mark${index}`, 2_000), { session });
    expect(model.requests.find(isSummary)?.settings).toMatchObject({ stop: undefined, seed: 7 });
    expect(model.requests[0]?.settings.stop).toEqual(["END"]);
  });

  test.each([
    ["a paste of a third of the window", 8_000, 8_000, 10_700],
    ["a change to a model with a smaller window", 16_000, 4_000, 100],
    ["a message that is larger than a piece", 16_000, 3_000, 20],
  ])("%s loses nothing: the pieces contain all of it, each after the summary so far", async (_, old, now, last) => {
    const long = limitedModel(old, () => SUM, ["Yes.", "Yes.", filler("answer", 20_000), "Yes.", "Yes.", "Yes."]);
    const { session, agent } = play(long, old, {
      compaction: { contextSize: old, threshold: 0.95, background: false },
    });
    for (const mark of ["first", "second", "third", "fourth"]) await agent.send(filler(mark, 900), { session });
    const model = limitedModel(now, (_request, index) => `${SUM} Number ${index}.`);
    const turn = await agent
      .with({ model, compaction: { contextSize: now, background: false } })
      .send(filler("newest", last), { session });
    expect(turn.text).toBe("Done.");
    expect(model.refusals()).toBe(0);
    const requests = model.requests.filter(isSummary);
    // Messages without a summary are still in the request.
    const said = [...requests, ...model.requests.slice(-1)].map(({ messages }) => allWords(messages)).join("\n");
    const missing = ["first", "second", "third", "fourth", "answer"].filter((mark) => !said.includes(`${mark} lorem`));
    expect(missing).toEqual([]);
    expect(said.match(/lorem|ipsum/g)?.length).toBeGreaterThan(20_000 / 6);
    if (old === now) return;
    expect(requests.length).toBeGreaterThan(1);
    for (const [index, { messages }] of requests.entries())
      if (index > 0) expect(wordsOf(messages[0] as PromptMessage)).toContain(`Number ${index - 1}.`);
    expect(summariesIn(session).map(textOf)).toEqual([`${SUM} Number ${requests.length - 1}.`]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("the limits of the turn hold between pieces", async () => {
    const long = limitedModel(16_000, () => SUM, ["Yes.", "Yes.", filler("answer", 20_000), "Yes."]);
    const { session, agent } = play(long, 16_000, { compaction: { contextSize: 16_000, threshold: 0.95 } });
    for (const mark of ["first", "second", "third", "fourth"]) await agent.send(filler(mark, 900), { session });
    const model = limitedModel(3_000, () => SUM);
    const changes = { model, compaction: { contextSize: 3_000, background: false }, limits: { tokens: 4_000 } };
    // The step that needs the room had begun before.
    expect((await agent.with(changes).send("newest", { session })).reason).toBe("answered");
    // The long answer alone takes two pieces.
    expect(model.requests.filter(isSummary)).toHaveLength(2);
    expect(summariesIn(session).map(textOf)).toEqual([
      expect.stringMatching(/^No summary could be made .* 4000 tokens\.$/),
    ]);
    expect(summariesIn(session)[0]?.usage?.input).toBeGreaterThan(1_000);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("an unknown window makes the pieces smaller until the provider accepts them", async () => {
    const { session, agent } = play(
      limitedModel(1e6, () => SUM, ["Yes.", "Yes.", "Yes.", "Yes."]),
      undefined,
    );
    for (const mark of ["first", "second", "third", "fourth"]) await agent.send(filler(mark, 4_000), { session });
    const model = limitedModel(1_500, () => SUM);
    expect(await agent.with({ model }).compact({ session })).toBeUndefined();
    const said = model.requests.filter(isSummary).map(({ messages }) => allWords(messages));
    const missing = ["first", "second", "third"].filter((mark) => !said.join("").includes(`${mark} lorem`));
    expect(missing).toEqual([]);
    expect(model.refusals()).toBeLessThan(5);
  });
});

describe("F90: a summary is a model call like any other", () => {
  /** A full conversation, and the responses to the requests for its summary. */
  async function full(scenes: Scene[], options: Partial<AgentOptions> = {}) {
    const model = limitedModel(2_000, (_, index) => scenes[index] ?? SUM, ["Yes.", "Yes.", "Yes."]);
    const { session, agent } = play(model, 2_000, { retry: { delay: 1 }, ...options });
    for (const mark of ["first", "second", "third"]) await agent.send(filler(mark, 2_000), { session });
    return { model, session, agent };
  }

  test.each<[string, Scene]>([
    ["429 with a time to wait", [fail("rate-limit", { status: 429, retryAfter: 30 })]],
    ["503", [fail("overloaded", { status: 503 })]],
    ["a broken stream", [text("Half"), { type: "cut" }]],
    ["a silence", [stall()]],
  ])("%s causes a retry after a wait that the feed reports, and counts once", async (_, scene) => {
    const heard: string[] = [];
    const { session, agent } = await full([scene], {
      retry: { delay: 1, idle: 200 },
      callbacks: { onModelError: ({ code }) => void heard.push(code) },
    });
    const items = await collect(agent.chat(say(filler("newest", 600)), { session }));
    expect(items.filter(({ type }) => type === "model.retrying")).toHaveLength(1);
    expect(heard).toHaveLength(1);
    expect(summariesIn(session).map(textOf)).toEqual([SUM]);
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "answered" });
  });

  test("another model replaces an unavailable one, and the turn continues with it", async () => {
    const other = { ...limitedModel(2_000, () => `${SUM} By b.`, ["Said by b."]), id: "b" };
    const { session, agent } = await full([[fail("quota")]], { modelNamed: async () => other, fallbacks: ["b"] });
    const items = await collect(agent.chat(say(filler("newest", 600)), { session }));
    expect(items.filter(({ type }) => type === "model.replaced")).toHaveLength(1);
    expect(summariesIn(session).map(textOf)).toEqual([`${SUM} By b.`]);
    expect([...session.state.messages.values()].at(-1)).toMatchObject({ model: "b" });
  });

  test("an abort ends the wait for the next try at once, and nothing changes", async () => {
    const { session, agent } = await full([[fail("rate-limit", { retryAfter: 200_000 })]]);
    const chat = agent.chat(say(filler("newest", 600)), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "model.retrying");
    session.interrupt();
    expect(await readUntil(chat, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
    expect(summariesIn(session)).toEqual([]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test.each<[string, Scene]>([
    ["429", [fail("rate-limit", { status: 429 })]],
    ["503", [fail("overloaded", { status: 503 })]],
    ["a wrong key", [fail("authentication", { status: 401 })]],
    ["a refusal by a filter", [fail("filtered")]],
  ])("%s for ever ends no turn, also not in `run`: the program writes the summary", async (_, scene) => {
    const { session, agent } = await full(Array(50).fill(scene), { retry: { delay: 1, attempts: 3 } });
    const turn = await agent.send(filler("newest", 600), { session });
    expect(turn.reason).toBe("answered");
    expect(summariesIn(session).map(textOf)).toEqual([
      expect.stringMatching(/^No summary could be made of \d+ messages?\./),
    ]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("a requested summary that fails changes nothing, and gives the reason", async () => {
    const { session, agent } = await full([[fail("quota", { message: "Empty." })]]);
    const before = session.state.messages.size;
    expect(await agent.compact({ session })).toBe("Empty.");
    expect(session.state.messages.size).toBe(before);
  });
});

/** A tool with long results that are always different; the file that it reads is an argument. */
let reads = 0;
const read = defineTool({
  name: "read",
  description: "Reads.",
  input: { type: "object" },
  effects: "none",
  readsEarlier: true,
  about: (input) => ({ paths: [{ path: (input as { path: string }).path, access: "read" }] }),
  execute: (input) => filler(`${(input as { path: string }).path} as of ${++reads}`, 1_600),
});

describe("F91: first without a model", () => {
  const steps = (paths: readonly string[]) =>
    paths.map((path): Scene => [call("read", { path }, `id-${path}-${reads++}`)]);
  const results = (messages: readonly PromptMessage[]) =>
    messages.flatMap((message) => (message.role === "assistant" ? message.results : []));

  test("old results are shortened once when that frees enough, and no model is asked", async () => {
    const model = limitedModel(4_000, () => SUM, steps(["a", "b", "c", "d", "e", "f", "g", "h", "i"]));
    const { session, agent } = play(model, 4_000, { tools: [read] });
    await agent.send("Read them.", { session });
    const [shortening, ...others] = summariesIn(session);
    expect(others).toEqual([]);
    expect(shortening?.covers).toBeUndefined();
    expect(shortening && textOf(shortening)).toMatch(
      /^Shortened \d old results of calls for the model, which frees about/,
    );
    expect(model.requests.filter(isSummary)).toEqual([]);
    const last = results(model.requests.at(-1)?.messages ?? []);
    expect(last[0]?.output).toMatch(
      /^\[Shortened: the result of read \(a\), 1,\d{3} characters\. To see it whole, use read with earlier:id-a-\d+\.\]$/,
    );
    expect(last.at(-1)?.output).toContain("i as of");
    expect(model.refusals()).toBe(0);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("the same path gives the same bytes: in the next turn, on another branch, and after a restart", async () => {
    const events: Event[] = [];
    const model = limitedModel(4_000, () => SUM, steps(["a", "b", "c", "d", "e", "f", "g", "h", "i"]));
    const agent = new Agent({ model, tools: [read], compaction: { contextSize: 4_000 } });
    const session = await Session.open(storeOf(events), "x");
    await agent.send("Read them.", { session });
    const { leaf } = session.state;
    const before = JSON.stringify(model.requests.at(-1)?.messages);
    const request = async (session: Session, said: string) => {
      await agent.send(said, { session, ...(leaf === null ? {} : { at: leaf }) });
      return JSON.stringify(model.requests.at(-1)?.messages.slice(0, -2));
    };
    const [one, two] = [await request(session, "One"), await request(session, "Two")];
    await session.close();
    const three = await request(await Session.open(storeOf(events), "x"), "Three");
    expect([two, three]).toEqual([one, one]);
    expect(before.startsWith(one.slice(0, -1))).toBe(true);
  });

  test("only the newest of repeated reads of a file stays, also among the newest results", async () => {
    const model = limitedModel(4_000, () => SUM, steps(["a", "b", "a", "c", "d", "e", "f", "g", "b", "b"]));
    const { session, agent } = play(model, 4_000, { tools: [read] });
    await agent.send("Read them.", { session });
    const last = results(model.requests.at(-1)?.messages ?? []);
    expect(last[0]?.output).toContain("A newer call has read the same.");
    expect(last.filter(({ output }) => /^b as of/.test(output)).length).toBeLessThanOrEqual(2);
  });

  test("if shortening is not enough, the summary's request is the request as sent, and the next request has short results", async () => {
    const model = limitedModel(4_000, () => SUM, [filler("talk", 7_000), ...steps(["a", "b", "c", "d", "e"])]);
    const { session, agent } = play(model, 4_000, { tools: [read] });
    await agent.send("Talk.", { session });
    await agent.send("Read them.", { session });
    const at = model.requests.findIndex(isSummary);
    expect(JSON.stringify(model.requests[at]?.messages)).not.toContain("[Shortened");
    expect(summariesIn(session).map(textOf)).toEqual([SUM]);
  });
});

describe("in a sub-agent, and on two branches at once", () => {
  test("F91: a sub-agent's old results are shortened on its own path alone", async () => {
    const paths = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    const model = limitedModel(4_000, () => SUM, [
      [call("launch_agent", { task: "Read them.", expected_output: "a word" })],
      ...paths.map((path): Scene => [call("read", { path })]),
      [finishTask("read")],
    ]);
    const { session, agent } = play(model, 4_000, { tools: [read, launchAgent()] });
    expect((await agent.send("Launch.", { session })).text).toBe("Done.");
    const [shortening, ...others] = summariesIn(session);
    expect(others).toEqual([]);
    expect(shortening).toMatchObject({ call: expect.any(String), shortened: expect.any(Array) });
    expect(shortening?.covers).toBeUndefined();
    expect(model.refusals()).toBe(0);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test.each<[string, Scene, RegExp]>([
    ["a good model", SUM, /^All that counts/],
    ["a model that refuses", [end("filtered")], /^No summary could be made of \d+ messages?\. The model refused/],
  ])("F90, F91: each branch has its own summary, by %s", async (_, scene, expected) => {
    const model = limitedModel(2_000, () => scene, ["Yes.", "Yes.", "Yes."]);
    const { session, agent } = play(model, 2_000);
    for (const mark of ["first", "second", "third"]) await agent.send(filler(mark, 2_000), { session });
    const { leaf } = session.state;
    const said = ["left", "right"].map((mark) => agent.send(filler(mark, 600), { session, at: leaf as string }));
    expect((await Promise.all(said)).map(({ reason }) => reason)).toEqual(["answered", "answered"]);
    const found = summariesIn(session);
    expect(found.map(textOf)).toEqual([expect.stringMatching(expected), expect.stringMatching(expected)]);
    expect(new Set(found.map(({ parentId }) => parentId)).size).toBe(2);
    expect(checkConversation(session.state)).toEqual([]);
  });
});

describe("F92: a summary has a bound of its own", () => {
  /** Called with the request and the summary when a model of this window writes a summary. */
  async function bounded(scenes: Scene[], settings: AgentOptions["settings"] = {}) {
    const model = limitedModel(4_000, (_, index) => scenes[index] ?? "none", ["Yes.", "Yes.", "Yes."]);
    const { session, agent } = play(model, 4_000, { settings });
    for (const mark of ["first", "second", "third"]) await agent.send(filler(mark, 3_900), { session });
    await agent.send(filler("newest", 2_000), { session });
    const requests = model.requests.filter(isSummary);
    return { requests, summary: summariesIn(session).map(textOf)[0] ?? "", session };
  }

  test("the model gets the bound, which leaves room for reasoning; the user's maxTokens does not count", async () => {
    const { requests, summary } = await bounded([SUM], { maxTokens: 20 });
    expect(summary).toBe(SUM);
    expect(allWords(requests[0]?.messages.slice(-1) ?? [])).toMatch(/Use at most 2\d\d words\./);
    expect(requests[0]?.settings.maxTokens).toBeGreaterThanOrEqual(399);
  });

  test("a longer one is requested once more, shorter", async () => {
    const { requests, summary } = await bounded([filler("long", 3_000), SUM]);
    expect(summary).toBe(SUM);
    expect(requests).toHaveLength(2);
    const [said, again] = requests[1]?.messages.slice(-2) ?? [];
    expect(said).toMatchObject({ role: "assistant", parts: [{ text: expect.stringMatching(/^long/) }] });
    expect(again && wordsOf(again)).toMatch(/^Your summary is too long\. Write it again in at most 2\d\d words/);
  });

  test("a summary that stays too long is cut between characters with a note", async () => {
    const long = "👩‍👩‍👧‍👦 ".repeat(800);
    const { requests, summary } = await bounded([long, long]);
    expect(requests).toHaveLength(2);
    expect(summary).toMatch(/\[This summary was longer than its limit and was cut here\.\]$/);
    expect(summary.length).toBeLessThanOrEqual(1_600);
    expect(summary.replace(/👩‍👩‍👧‍👦| |\n.*$/gu, "")).toBe("");
  });

  test("a summary that the output limit cut is not empty: its text counts", async () => {
    const { requests, summary } = await bounded([
      [text(filler("half", 300)), end("length")],
      [text(filler("half again", 300)), end("length")],
    ]);
    expect(requests).toHaveLength(2);
    expect(summary).toMatch(/^half again .*\n\[This summary was longer than its limit and was cut here\.\]$/);
  });

  test("a summary with nothing but reasoning is reported as cut", async () => {
    const { summary } = await bounded([[end("length")], [end("length")]]);
    expect(summary).toMatch(/cut off at the output limit/);
  });
});

vi.setConfig({ testTimeout: 20_000 });

import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Event } from "../conversation/event.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { type AssistantMessage, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { Tool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import { call, type Scene, scriptedModel, spend, stall, text } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { handOff } from "./control/hand-off.ts";
import { resume, retry, say } from "./directive.ts";

const toWriter = call("hand_off_to_writer", { note: "A story." });
const toDesk = call("back_to_desk");

/** The words of the last user message of a request. */
function wordsOf({ messages }: ModelRequest): string {
  const last = messages.findLast(({ role }) => role === "user");
  const [part] = last?.role === "user" ? last.parts : [];
  return part?.type === "text" ? part.text : "";
}

const isAfterCall = ({ messages }: ModelRequest) => messages.at(-1)?.role === "assistant";

/** A desk that hands stories over to a writer, who hands everything else back. */
function deskAndWriter(options: Partial<AgentOptions> = {}, writing: Partial<AgentOptions> = {}) {
  const deskModel = scriptedModel((request) => (wordsOf(request).includes("story") ? [toWriter] : "The desk is open."));
  const writerModel = scriptedModel((request): Scene => {
    if (!wordsOf(request).includes("story")) return isAfterCall(request) ? "Odd." : [toDesk];
    return [text("Once upon a time."), spend({ input: 5, output: 7 })];
  });
  const desk: Agent = new Agent({
    name: "desk",
    model: deskModel,
    instructions: "You sort.",
    compaction: false,
    tools: [handOff(() => writer, { name: "hand_off_to_writer", description: "Writes stories." })],
    ...options,
  });
  const writer: Agent = new Agent({
    name: "writer",
    description: "Writes stories.",
    model: writerModel,
    instructions: "You write.",
    compaction: false,
    tools: [handOff(() => desk, { name: "back_to_desk", description: "Sorts requests." })],
    ...writing,
  });
  return { desk, writer, deskModel, writerModel };
}

const agentsIn = (items: readonly (FeedItem | Event)[]) =>
  items.flatMap((item) => (item.type === "run.started" ? [item.agent] : []));

/** The texts of the user's branch. */
const branchOf = ({ state }: Session) =>
  pathTo(state, state.leaf).map((message) => textOf(message) || (message as AssistantMessage).calls[0]?.tool);

/** An array for `storeOf`, and its lengths after each commit with or after the start of a run. */
function recordedEvents() {
  const whole: Event[] = [];
  const commits: number[] = [];
  whole.push = (...more) => {
    for (const event of more) whole[whole.length] = event;
    if (whole.some(({ type }) => type === "run.started")) commits.push(whole.length);
    return whole.length;
  };
  return { whole, commits };
}

describe("a hand-off by the model", () => {
  test("L3: continues the turn in the same stream and on the same branch, with the other agent's options", async () => {
    const session = Session.inMemory();
    const { desk, writerModel } = deskAndWriter();
    const chat = desk.chat(say("A story, please."), { session });
    const items = await collect(chat);
    expect(agentsIn(items)).toEqual(["desk", "writer"]);
    expect(items.filter((item) => item.type === "text.delta")).toMatchObject([{ agent: "writer", depth: 0 }]);
    expect(branchOf(session)).toEqual(["A story, please.", "hand_off_to_writer", "Once upon a time."]);
    const [request] = writerModel.requests;
    expect(request).toMatchObject({ instructions: "You write.", tools: [{ name: "back_to_desk" }] });
    expect(JSON.stringify(request?.messages)).toContain("A story, please.");
    const calls = items.filter((item) => item.type === "call.pending");
    expect(calls).toMatchObject([{ about: { agent: "writer", title: "A story." } }]);
    // The turn is that of both agents.
    expect(await chat.turn).toMatchObject({
      reason: "answered",
      text: "Once upon a time.",
      steps: 2,
      usage: { input: 6, output: 8 },
    });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L3: also gives the other agent the next turns, until it hands the conversation back", async () => {
    const session = Session.inMemory();
    const { desk, deskModel } = deskAndWriter();
    await desk.send("A story, please.", { session });
    expect((await desk.send("One more story.", { session })).text).toBe("Once upon a time.");
    expect(deskModel.requests).toHaveLength(1);
    expect((await desk.send("Thanks.", { session })).text).toBe("The desk is open.");
    expect((await desk.send("Bye.", { session })).text).toBe("The desk is open.");
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L3: counts only on its own branch", async () => {
    const session = Session.inMemory();
    const { desk } = deskAndWriter();
    await desk.send("Hello.", { session });
    const before = session.state.leaf ?? undefined;
    await desk.send("A story, please.", { session });
    const items = await collect(desk.chat(say("Are you open?"), { session, at: before }));
    expect(agentsIn(items)).toEqual(["desk"]);
    const again = await collect(desk.chat(retry("Another story."), { session }));
    expect(agentsIn(again)).toEqual(["desk", "writer"]);
  });

  test.each([undefined, 2])("L3: outlives the process (window %s)", async (window) => {
    const events: Event[] = [];
    const reopened = async <T>(use: (session: Session) => Promise<T>) => {
      await using session = await Session.open(storeOf(events), "story", { create: true, window });
      return await use(session);
    };
    const turn = (words: string) => reopened((session) => collect(deskAndWriter().desk.chat(say(words), { session })));
    expect(agentsIn(await turn("A story, please."))).toEqual(["desk", "writer"]);
    for (const words of ["One more story.", "A long story.", "A short story."])
      expect(agentsIn(await turn(words))).toEqual(["writer"]);
    expect(agentsIn(await turn("Thanks."))).toEqual(["writer", "desk"]);
    expect(agentsIn(await turn("Bye."))).toEqual(["desk"]);
  });

  test("L3: continues after a crash at any commit", async () => {
    const { whole, commits } = recordedEvents();
    const session = await Session.open(storeOf(whole), "story", { create: true });
    await deskAndWriter().desk.send("A story, please.", { session });
    await session.close();
    const end = whole.findLastIndex(({ type }) => type === "message.completed");
    const cuts = commits.filter((length) => length <= end);
    expect(cuts.length).toBeGreaterThan(5);
    for (const length of cuts) {
      await using again = await Session.open(storeOf(whole.slice(0, length)), "story");
      const items = await collect(deskAndWriter().desk.chat(resume(), { session: again }));
      expect(agentsIn(items).at(-1)).toBe("writer");
      expect(textOf(pathTo(again.state, again.state.leaf).at(-1) as AssistantMessage)).toBe("Once upon a time.");
      expect(checkConversation(again.state)).toEqual([]);
    }
  });

  test("L3: a question of the other agent outlives the process", async () => {
    const events: Event[] = [];
    const sent: string[] = [];
    const send = defineTool({
      name: "send",
      description: "Sends.",
      input: { type: "object" },
      effects: "external",
      execute: (_, { agent }) => void sent.push(agent),
    });
    const model = scriptedModel((request) =>
      JSON.stringify(request.messages).includes('"send"') ? "Sent." : [call("send")],
    );
    const permission: AgentOptions["permission"] = ({ tool }) => ({
      decision: tool.name === "send" ? "ask" : "allow",
    });
    // The rules of the desk judge the calls of the writer.
    const { desk } = deskAndWriter({ permission }, { model, tools: [send] });
    const open = () => Session.open(storeOf(events), "story", { create: true });
    const first = await open();
    const { reason, questions } = await desk.send("A story, please.", { session: first, untilAsked: true });
    expect([reason, questions.length, sent]).toEqual(["waiting", 1, []]);
    await first.close();
    await using session = await open();
    const turn = await desk.answer(questions[0]?.id ?? "", { decision: "allow" }, { session });
    expect([turn.reason, turn.text, turn.steps, sent]).toEqual(["answered", "Sent.", 3, ["writer"]]);
  });

  test("L3: ends with an interrupt, and `resume` continues with the other agent", async () => {
    const session = Session.inMemory();
    let round = 0;
    const model = scriptedModel(() => (round++ === 0 ? [text("Once"), stall()] : "upon a time."));
    const { desk } = deskAndWriter({}, { model });
    const chat = desk.chat(say("A story, please."), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "text.delta" && item.text === "Once");
    expect(session.interrupt()).toBe(1);
    expect(await readUntil(chat, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
    expect(agentsIn(await collect(desk.chat(resume(), { session })))).toEqual(["writer"]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L3: a loop of hand-offs ends at the limit of steps, and all agents share the lowest limits of the turn", async () => {
    const loop = { model: scriptedModel(({ toolChoice }) => (toolChoice === "none" ? "Enough." : [toDesk])) };
    const session = Session.inMemory();
    const model = scriptedModel(({ toolChoice }) => (toolChoice === "none" ? "Enough." : [toWriter]));
    const { desk } = deskAndWriter({ model, limits: { steps: 20 } }, { ...loop, limits: { steps: 7 } });
    const turn = await desk.send("A story, please.", { session });
    expect(turn).toMatchObject({ reason: "limit", text: "Enough.", limit: "the limit of 7 steps", steps: 7 });
    const spending = scriptedModel(() => [toDesk, spend({ input: 100 })]);
    const poor = deskAndWriter({ model, limits: { tokens: 450 } }, { model: spending, limits: { tokens: 9_000 } });
    const { limit, usage } = await poor.desk.send("A story, please.", { session: Session.inMemory() });
    expect(limit).toBe("the limit of 450 tokens");
    expect(usage.input).toBeLessThanOrEqual(450);
  });

  test("L3: the other agent gets a message that arrives during a hand-off", async () => {
    const session = Session.inMemory();
    const { desk, writerModel } = deskAndWriter();
    const chat = desk.chat(say("A story, please."), { session });
    for await (const item of chat)
      if (item.type === "call.executing") await session.say("A short story.", { delivery: "queue" });
    expect(JSON.stringify(writerModel.requests.map(({ messages }) => messages))).toContain("A short story.");
    expect(session.state.inbox).toEqual([]);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("L3: works for a sub-agent too", async () => {
    const session = Session.inMemory();
    const { desk } = deskAndWriter();
    const model = scriptedModel((request) => (isAfterCall(request) ? "Done." : [call("desk", { task: "A story." })]));
    const main = new Agent({ model, tools: [desk.asTool({ description: "Sorts." })] });
    const items = await collect(main.chat(say("Go"), { session }));
    expect(agentsIn(items)).toEqual(["agent", "desk", "writer"]);
    expect(items.filter((item) => item.type === "run.started").map((item) => item.call)).toEqual([
      undefined,
      "call_1",
      "call_1",
    ]);
    const [launching] = [...session.state.messages.values()].filter((message) => message.role === "assistant");
    expect(launching?.calls).toMatchObject([{ output: "Once upon a time." }]);
    expect(checkConversation(session.state)).toEqual([]);
  });
});

describe("turn handlers and hand-offs", () => {
  test("L3: the handler of the other agent is called, and that of the first agent is not", async () => {
    const called: string[] = [];
    const onTurn = (name: string): Pick<AgentOptions, "onTurn"> => ({
      onTurn: (_, agent) => void called.push(`${name}: ${agent.name}`),
    });
    const { desk } = deskAndWriter(onTurn("desk"), onTurn("writer"));
    await collect(desk.chat(say("A story, please.")));
    expect(called).toEqual(["writer: writer"]);
    await desk.send("A story, please.");
    expect(called).toHaveLength(1);
  });

  test("L3: without a handler of its own, the other agent has that of the first, with itself as the agent", async () => {
    const words = ["One more story.", "Thanks.", "A last story."];
    const called: string[] = [];
    const { desk } = deskAndWriter({
      onTurn(_, agent, { text }) {
        called.push(`${agent.name}: ${text}`);
        const next = words.shift();
        return next === undefined ? undefined : agent.chat(say(next));
      },
    });
    const items = await collect(desk.chat(say("A story, please.")));
    expect(agentsIn(items)).toEqual(["desk", "writer", "writer", "writer", "desk", "desk", "writer"]);
    expect(called.map((line) => line.split(":")[0])).toEqual(["writer", "writer", "desk", "writer"]);
  });

  test("L3: a handler chooses its agent itself", async () => {
    let more = true;
    const { desk } = deskAndWriter({}, { onTurn: () => (more ? desk.chat(say("Are you open?")) : undefined) });
    const session = Session.inMemory();
    const items: FeedItem[] = [];
    for await (const item of desk.chat(say("A story, please."), { session })) {
      items.push(item);
      if (item.type === "run.started" && items.length > 20) more = false;
    }
    expect(agentsIn(items).slice(0, 3)).toEqual(["desk", "writer", "desk"]);
  });
});

describe("the result after a hand-off", () => {
  const output = z.object({ title: z.string(), pages: z.number().default(3) });

  test("L3: has the schema of both agents", async () => {
    const { desk } = deskAndWriter();
    const model = scriptedModel(['{ "title": "Figs" }']);
    const writer = new Agent({ name: "writer", description: "Writes.", model, output });
    const turn = await desk.with({ output, tools: [handOff(writer)] }).send("A story, please.");
    expect(turn.result satisfies { title: string; pages: number }).toEqual({ title: "Figs", pages: 3 });
  });

  test("L3: an agent with another output is refused", async () => {
    const { desk, writer } = deskAndWriter();
    const strict = desk.with({ output, tools: [handOff(writer)] });
    await expect(strict.send("A story, please.")).rejects.toThrow(
      'handOff: the agent "writer" must have the same output as "desk", because it gives the result of the turn. Pass one schema to both.',
    );
  });
});

test("L3: a hand-off is refused to no agent, to an agent of the same name, and without name and description", async () => {
  const { writer } = deskAndWriter();
  const wrong = (value: unknown) => value as Agent;
  expect(() => handOff(wrong("writer"))).toThrow("handOff: pass an Agent, as in handOff(writer).");
  expect(() => handOff(() => writer)).toThrow(
    'handOff: a function needs the name and the description of the tool, as in handOff(() => writer, { name: "hand_off_to_writer", description: "Writes stories." }).',
  );
  expect(() => handOff(writer.with({ description: undefined }))).toThrow(
    'handOff: the agent "writer" needs a description: new Agent({ description: "Finds facts.", ... }).',
  );
  expect(() => handOff(writer.with({ name: undefined }))).toThrow("handOff: the tool needs a name.");
  expect(() => handOff(writer, { nam: "x" } as object)).toThrow("nam is no option of handOff; did you mean name?");
  const tools = (tool: Tool) => writer.with({ tools: [tool] }).send("Hello.");
  await expect(tools(handOff(writer))).rejects.toThrow('handOff: two agents have the name "writer"; rename one.');
  const later = handOff(() => wrong(undefined), { name: "later", description: "Later." });
  await expect(tools(later)).rejects.toThrow("handOff: pass an Agent, as in handOff(writer).");
});

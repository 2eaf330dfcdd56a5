import { describe, expect, test } from "vitest";
import type { Event } from "../conversation/event.ts";
import { createId } from "../conversation/id.ts";
import { textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { noUsage } from "../conversation/usage.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { CallHooks, SummaryRequest } from "../ports/human.ts";
import type { ModelRequest } from "../ports/model.ts";
import type { LoopDriver } from "../ports/tool.ts";
import { promptFrom } from "../run/prompt.ts";
import { Session } from "../session/session.ts";
import { collect } from "../testing/collect.ts";
import { call, type Scene, scriptedModel, spend, stall, text } from "../testing/scripted-model.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { earlier } from "./control/earlier.ts";
import { handOff } from "./control/hand-off.ts";
import { shortenConversation } from "./control/shorten-conversation.ts";
import { resume, say } from "./directive.ts";

/** A conversation that can be shortened, and the later answers. */
async function talked(...then: readonly Scene[]) {
  const model = scriptedModel(["Because ".padEnd(2_000, "it is warm, "), "Two.", "Three.", "Four.", ...then]);
  const events: Event[] = [];
  const [agent, session] = [new Agent({ model }), await Session.open(storeOf(events), "x")];
  for (const said of ["One?", "Two?", "Three?", "Four?"]) await agent.send(said, { session });
  return { agent, session, model, events };
}

test("B42: a requested summary keeps the user's wishes, which only its request contains", async () => {
  const { agent, session, model } = await talked("Summed up in a few words.");
  expect(await agent.compact({ session, keep: "every colour" })).toBeUndefined();
  const asked = JSON.stringify(model.requests.at(-1)?.messages.at(-1));
  expect(asked).toMatch(/Answer with the summary alone; .* follow these instructions of the user .*:\\nevery colour"/);
  const messages = [...session.state.messages.values()];
  expect(messages.filter(({ role }) => role === "summary").map(textOf)).toEqual(["Summed up in a few words."]);
  expect(messages.some((message) => textOf(message).includes("colour"))).toBe(false);
});

test("F99: the gain of a summary has one measure, whatever the provider counted for the request before", async () => {
  // A tenth of the true size: this provider does not count instructions and tools.
  const model = scriptedModel(
    ["a", "b", "c", "Short."].map((said) => [spend({ input: 300, output: 5 }), text(said.padEnd(1_200, " word"))]),
  );
  const tools = [
    defineTool({
      name: "t",
      description: "x".repeat(8_000),
      input: { type: "object" },
      effects: "none",
      execute: () => "",
    }),
  ];
  const [agent, session] = [new Agent({ model, tools, instructions: "y".repeat(8_000) }), Session.inMemory()];
  for (const said of ["One?", "Two?", "Three?"]) await agent.send(said, { session });
  expect(await agent.compact({ session })).toBeUndefined();
  const summary = [...session.state.messages.values()].find(({ role }) => role === "summary");
  const { before = 0, after = 0 } = (summary?.role === "summary" && summary.compaction) || {};
  expect(before).toBeGreaterThan(0);
  expect(after).toBeLessThan(before);
});

test.each([0.7, 1, 1.4])(
  "F99: a provider that counts %d times our tokens gives the same shares for this request and the next",
  async (times) => {
    const sizes: number[] = [];
    const model = scriptedModel(({ instructions, messages }) => {
      const texts = messages.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")));
      const size = [instructions, ...texts].join("").length / 4;
      sizes.push(size);
      return [spend({ input: Math.round(times * size), output: Math.round(times * 300) }), text("a word ".repeat(170))];
    });
    const agent = new Agent({ model, instructions: "y".repeat(2_000) });
    const session = Session.inMemory();
    for (const said of ["One?", "Two?", "Three?", "Four?", "Five?"]) await agent.send(said, { session });
    const before = (sizes.at(-1) ?? 0) + 300;
    expect(await agent.compact({ session })).toBeUndefined();
    await agent.send("Six?", { session });
    const summary = [...session.state.messages.values()].find(({ role }) => role === "summary");
    const told = summary?.role === "summary" ? summary.compaction : undefined;
    expect((told?.before ?? 0) / times / before).toBeCloseTo(1, 1);
    expect((told?.after ?? 0) / times / (sizes.at(-1) ?? 0)).toBeCloseTo(1, 1);
  },
);

test("B42: the run of a summary has the id that is given, and is interrupted alone", async () => {
  const { agent, session } = await talked([text("Su"), stall()], [text("Five"), stall()]);
  const id = createId();
  const shortening = agent.compact({ session, id });
  const [first = ""] = session.state.messages.keys();
  const other = agent.send("And else?", { session, at: first });
  await expect.poll(() => session.state.runs.size).toBe(1);
  expect(session.interrupt(id)).toBe(1);
  expect(await shortening).toBe("interrupted by the user");
  expect(session.state.runs.size).toBe(1);
  session.interrupt();
  await other;
});

/** Text of the last message of a request. */
const lastOf = ({ messages }: ModelRequest) =>
  messages
    .at(-1)
    ?.parts.map((part) => (part.type === "text" ? part.text : ""))
    .join("") ?? "";

describe("F96: a summary has a fixed form, and contains the user's wishes", () => {
  test("the request names the headings in their order, and does not ask the model to go on", async () => {
    const { agent, session, model } = await talked("Sum.");
    await agent.compact({ session });
    const request = model.requests.at(-1);
    const headings = [...lastOf(request as ModelRequest).matchAll(/^## (.*)$/gm)].map(([, name]) => name);
    const form = ["Goal", "Constraints", "Decisions", "Done", "In progress", "Next", "Open questions"];
    expect(headings).toEqual(form);
    expect(JSON.stringify(request)).not.toContain("Go on from where your last answer stopped");
  });

  test("the line after the summary says that the work continues, and names the tools that read covered messages", async () => {
    const { agent, session, model } = await talked("Sum.", "Yes.", "Sum.", "Yes.");
    await agent.compact({ session });
    await agent.send("And?", { session });
    expect(JSON.stringify(model.requests.at(-1))).toMatch(
      /The work continues from here\. Finished steps are not repeated\."/,
    );
    const reading = agent.with({ tools: [earlier()] });
    await reading.compact({ session });
    await reading.send("And?", { session });
    const shown = JSON.stringify(model.requests.at(-1));
    expect(shown).toContain("To list the messages that the summary covers, call earlier with earlier:.");
    // Pure: the prompt of the path is the same with or without the tool.
    const again = promptFrom(pathTo(session.state, session.state.leaf));
    expect(JSON.stringify(again)).toContain(
      "To list the messages that the summary covers, call earlier with earlier:.",
    );
  });

  test("any conversation with more than two messages can be summed up, and the summary may be longer than they are", async () => {
    const model = scriptedModel(["Yes.", "No.", "A summary that is longer than what it stands for.", "Good."]);
    const [agent, session] = [new Agent({ model }), Session.inMemory()];
    await agent.send("Is it?", { session });
    expect(await agent.compact({ session })).toBe("There is nothing to compact yet.");
    await agent.send("Or not?", { session });
    expect(await agent.compact({ session })).toBeUndefined();
    await agent.send("And?", { session });
    expect(JSON.stringify(model.requests.at(-1))).toContain("A summary that is longer");
  });

  test("words of the settings, the hook and the user are in the request in this order, and the settings' words in each request", async () => {
    const { agent, session, model } = await talked("Sum.", "Five.", "Six.", "Seven.", "Sum again.");
    const asked: unknown[] = [];
    const beforeSummary = ({ trigger, wanted }: SummaryRequest) => {
      asked.push([trigger, wanted]);
      return { instructions: "words of the hook" };
    };
    const wanting = agent.with({ compaction: { instructions: "words of all" }, hooks: { beforeSummary } });
    await wanting.compact({ session, keep: "words for one" });
    expect(lastOf(model.requests.at(-1) as ModelRequest)).toMatch(
      /:\nwords of all\n\nwords of the hook\n\nwords for one$/,
    );
    for (const said of ["Five?".padEnd(900, " and so"), "Six?", "Seven?"]) await wanting.send(said, { session });
    await wanting.compact({ session });
    expect(lastOf(model.requests.at(-1) as ModelRequest)).toMatch(/:\nwords of all\n\nwords of the hook$/);
    expect(asked).toEqual([
      ["manual", "words for one"],
      ["manual", undefined],
    ]);
  });

  /** Texts long enough for a summary. */
  const SUM = "They like it warm. ".repeat(16);
  const THEIRS = "It is liked warm. ".repeat(16);

  /** A turn whose context is full after its first answer, and the feed's notices of hooks and summaries. */
  async function full(options: Partial<AgentOptions>, ...then: readonly Scene[]) {
    const long = [text("Because ".padEnd(24_000, "it is warm, ")), spend({ input: 6_500, output: 60 })];
    const model = scriptedModel(["One.", "Two.", "Three.", long, ...then]);
    const { compaction = {}, ...rest } = options;
    const agent = new Agent({ model, compaction: { contextSize: 8_000, ...compaction }, ...rest });
    const session = Session.inMemory();
    const problems: string[] = [];
    session.listen({
      items: (items) => {
        for (const item of items)
          if (item.type === "callback.failed") problems.push(`${item.callback}: ${item.reason}`);
      },
      ended() {},
    });
    for (const said of ["One?", "Two?", "Three?", "Why?", "So?"]) await agent.send(said, { session });
    const summaries = [...session.state.messages.values()].filter(({ role }) => role === "summary");
    return { agent, session, model, problems, summaries };
  }

  const deny: CallHooks = { beforeSummary: () => ({ decision: "deny", reason: "Not now." }) };

  test("a hook blocks a summary that a user requested, and none that the context needs", async () => {
    const { agent, session } = await talked();
    const blocked = agent.with({ hooks: deny });
    expect(await blocked.compact({ session })).toBe("A hook blocked the summary: Not now.");
    const needed = await full({ hooks: deny }, SUM, "So it is.");
    expect(needed.summaries.map(textOf)).toEqual([SUM]);
    expect(needed.problems).toEqual([
      "beforeSummary: A hook cannot block a summary that makes room in the context. Not now.",
    ]);
  });

  test("a hook that throws an error adds nothing, and the summary is made", async () => {
    const hooks: CallHooks = {
      beforeSummary() {
        throw new Error("no network");
      },
    };
    const { summaries, problems } = await full({ hooks }, SUM, "So it is.");
    expect([summaries.length, problems]).toEqual([1, ["beforeSummary: no network"]]);
  });

  test("with automatic: false, only a user's request causes a summary", async () => {
    const { agent, session, summaries } = await full({ compaction: { automatic: false } }, "So it is.", SUM);
    expect(summaries).toEqual([]);
    expect(await agent.compact({ session })).toBeUndefined();
  });

  test("the model of compaction.model writes the summary, its price counts, and the turn keeps its own model", async () => {
    const price = { input: 1, output: 1 };
    const writer = scriptedModel([[text(THEIRS), spend({ input: 1_000_000 })]], { id: "writer", price });
    const modelNamed = (name: string) =>
      name === "writer" ? Promise.resolve(writer) : Promise.reject(new Error(`There is no model ${name}.`));
    const { summaries, model } = await full({ modelNamed, compaction: { model: "writer" } }, "So it is.");
    expect(summaries).toMatchObject([{ cost: 1, usage: { input: 1_000_000 } }]);
    expect([summaries.map(textOf), model.requests.length, writer.requests.length]).toEqual([[THEIRS], 5, 1]);
    const own = await full({ modelNamed, compaction: { model: "writter" } }, SUM, "So it is.");
    expect(own.summaries.map(textOf)).toEqual([SUM]);
    expect(own.problems).toEqual(["compaction.model: There is no model writter."]);
    expect(() => new Agent({ model, compaction: { model: "writer" } })).toThrow(
      "compaction.model is a name: give modelNamed as well, which finds the model of it.",
    );
  });
});

/** A conversation that can be shortened, whose last turn waits for a user after its process ended. */
async function waiting(end: "leave" | "kill", asking: Scene, ...then: readonly Scene[]) {
  const { agent: plain, session: talking, model, events } = await talked(asking, ...then);
  const send = defineTool({
    name: "send",
    description: "",
    input: { type: "object" },
    effects: "external",
    execute: () => "sent",
  });
  const agent = plain.with({
    tools: [send, shortenConversation()],
    compaction: {},
    permission: ({ tool }) => ({ decision: tool.name === "send" ? "ask" : "allow" }),
  });
  const isOpen = (type: string) =>
    events.some((event) => event.type === type && "tool" in event && event.tool === "send");
  const isOver = () => isOpen("call.approval-requested") && model.requests.length === 5;
  const feed = agent.chat(say("Send it."), { session: talking })[Symbol.asyncIterator]();
  while (!isOver()) await feed.next();
  for (let wait = 0; wait < 5; wait++) await new Promise(setImmediate);
  const killed = structuredClone(events);
  await feed.return?.();
  await talking.close();
  const session = await Session.open(storeOf(end === "kill" ? killed : events), "x");
  return { agent, session, model, question: session.openQuestions[0]?.id ?? "" };
}

describe.each(["leave", "kill"] as const)("F72: a branch that waits for a user (%s)", (end) => {
  test("is not shortened: its question stays, and the model is shown the call's result", async () => {
    const { agent, session, model, question } = await waiting(end, [call("send")], "It is sent.");
    const before = session.state.messages.size;
    expect(await agent.compact({ session })).toBe(
      "This branch waits for a user's answer. First answer the question or interrupt the turn, then compact the branch.",
    );
    expect([session.openQuestions.map(({ id }) => id), session.state.messages.size]).toEqual([[question], before]);
    // An earlier place is another branch.
    const [first = ""] = session.state.messages.keys();
    expect(await agent.compact({ session, at: first })).toBe("There is nothing to compact yet.");
    await session.answer(question, { decision: "allow" });
    await collect(agent.chat(resume(), { session }));
    expect(JSON.stringify(model.requests.at(-1))).toContain('"output":"sent"');
  });

  test("keeps a summary that another call of the same response wrote", async () => {
    const summary = call("shorten_conversation", { summary: "Red is liked." });
    const { agent, session, model, question } = await waiting(end, [summary, call("send")], "It is sent.", "Yes.");
    await session.answer(question, { decision: "allow" });
    await collect(agent.chat(resume(), { session }));
    const shown = JSON.stringify(model.requests.at(-1));
    const seen = ["Red is liked.", "it is warm", '"output":"sent"'].map((text) => shown.includes(text));
    expect(seen).toEqual([true, false, true]);
    await agent.send("And?", { session });
    const summaries = [...session.state.messages.values()].filter(({ role }) => role === "summary");
    expect(summaries.map(textOf)).toEqual(["Red is liked."]);
  });
});

describe("L3: after a hand-off, the agent that has the conversation writes the summary", () => {
  /** A desk that hands the first message over to a writer. Both have a model of their own. */
  function deskAndWriter(writing: Partial<AgentOptions> = {}) {
    const [deskModel, writerModel] = [
      scriptedModel([[call("hand_off_to_writer")]]),
      scriptedModel(() => "Once. ".repeat(200)),
    ];
    const writer = new Agent({
      name: "writer",
      description: "Writes.",
      model: writerModel,
      instructions: "You write.",
      ...writing,
    });
    const desk = new Agent({ name: "desk", model: deskModel, instructions: "You sort.", tools: [handOff(writer)] });
    return { desk, deskModel, writerModel };
  }

  test.each([undefined, 3])("with its own model and instructions (window %s)", async (window) => {
    const events: Event[] = [];
    const { desk, deskModel, writerModel } = deskAndWriter({ compaction: false });
    for (const said of ["A story.", "Two?", "Three?", "Four?"]) {
      await using session = await Session.open(storeOf(events), "x", { create: true, window });
      await desk.send(said, { session });
    }
    await using session = await Session.open(storeOf(events), "x", { window });
    expect(await desk.compact({ session })).toBeUndefined();
    expect(deskModel.asked).toBe(1);
    const { asked } = writerModel;
    expect(asked).toBeGreaterThan(4);
    expect(writerModel.requests.at(-1)?.instructions).toContain("You write.");
    // Above the hand-off, the desk has the conversation.
    const [first = ""] = session.state.messages.keys();
    await desk.compact({ session, at: first });
    expect(writerModel.asked).toBe(asked);
  });

  test("an agent that keeps its own context refuses, and the conversation stays unchanged", async () => {
    const loop: LoopDriver = {
      id: "loop/writer",
      family: "loop",
      async run(_, sink) {
        const answer = await sink.begin();
        answer.push([{ type: "text", text: "Once." }]);
        answer.push([{ type: "finish", reason: "stop", usage: noUsage }]);
        await sink.complete();
      },
    };
    const { desk } = deskAndWriter({ model: loop });
    const session = Session.inMemory();
    await desk.send("A story.", { session });
    const { size } = session.state.messages;
    await expect(desk.compact({ session })).rejects.toThrow("loop/writer manages its own context");
    expect(session.state.messages.size).toBe(size);
    expect((await desk.send("More.", { session })).text).toBe("Once.");
  });
});

import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { resume, say } from "../agent/directive.ts";
import { type AssistantMessage, textOf } from "../conversation/message.ts";
import { isAskerLost } from "../conversation/tree/asking-run.ts";
import { pathTo } from "../conversation/tree/path.ts";
import type { Effects } from "../ports/tool-values.ts";
import { Session } from "../session/session.ts";
import { call, checkConversation, collect, readUntil, scriptedModel } from "../testing/index.ts";
import { storeOf } from "../turn/store-of.fixture.ts";
import { agentOf, ENDS, ended, goneOn, Started, type Waiting } from "./end-of-waiting.fixture.ts";

const outputs = (session: Session) =>
  [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? message.calls.map(({ output }) => output) : [],
  );

describe("F72: a waiting call is judged again when its turn continues", () => {
  const permitting = (decision: "allow" | "deny") =>
    (decision === "allow" ? { decision } : { decision, reason: "not here" }) as
      | { decision: "allow" }
      | { decision: "deny"; reason: string };

  test.each(["allow", "deny"] as const)("a rule that decides it now closes the question: %s", async (decision) => {
    const started = new Started();
    const waiting = { scenes: [[call("send")]], tools: [started.tool("send", "external")], asks: ["send"] };
    const { events } = await ended(waiting, "close");
    const session = await Session.open(storeOf(events), "x");
    const model = scriptedModel(["Done."]);
    const agent = new Agent({ model, tools: waiting.tools, permission: () => permitting(decision) });
    await collect(agent.chat(resume(), { session }));
    expect(outputs(session)).toEqual([decision === "allow" ? "send done" : "Not allowed: not here"]);
    expect(checkConversation(session.state, events)).toEqual([]);
  });

  test("other arguments than the user saw are asked about by a new question, which replaces the old one", async () => {
    const started = new Started();
    const plain = started.tool("send", "external");
    const waiting = { scenes: [[call("send", { to: "Ann" })]], tools: [plain], asks: ["send"] };
    const { events, open } = await ended(waiting, "close");
    const session = await Session.open(storeOf(events), "x");
    const changed: Waiting = {
      ...waiting,
      tools: [{ ...plain, input: { type: "object", properties: { to: { type: "string" } } } }],
    };
    const agent = agentOf(changed, scriptedModel(["Done."])).with({
      hooks: { beforeCall: () => ({ input: { to: "Bob" } }) },
    });
    const feed = agent.chat(resume(), { session })[Symbol.asyncIterator]();
    const asked = await readUntil(feed, (item) => item.type === "call.approval-requested");
    expect(asked).toMatchObject({ input: { to: "Bob" } });
    expect(session.openQuestions).toHaveLength(1);
    expect(session.openQuestions[0]?.id).not.toBe(open[0]?.id);
    await session.answer(session.openQuestions[0]?.id ?? "", { decision: "deny" });
    await readUntil(feed, (item) => item.type === "chat.ended");
  });

  test("a session that closes before the second judgement leaves the question open", async () => {
    const started = new Started();
    const waiting = { scenes: [[call("send")]], tools: [started.tool("send", "external")], asks: ["send"] };
    const { events, open } = await ended(waiting, "close");
    const session = await Session.open(storeOf(events), "x");
    const judging = Promise.withResolvers<void>();
    const permission = () => {
      judging.resolve();
      return new Promise<never>(() => {});
    };
    const agent = new Agent({ model: scriptedModel(["Done."]), tools: waiting.tools, permission });
    const left = collect(agent.chat(resume(), { session })).catch(() => {});
    await judging.promise;
    await session.close();
    await left;
    const next = await Session.open(storeOf(events), "x");
    expect(next.openQuestions.map(({ id }) => id)).toEqual(open.map(({ id }) => id));
    expect(outputs(next).filter((output) => output !== undefined)).toEqual([]);
  });

  test("a message in place of an answer continues the turn, and the question keeps its id", async () => {
    const started = new Started();
    const waiting = { scenes: [[call("send")]], tools: [started.tool("send", "external")], asks: ["send"] };
    const { events, open } = await ended(waiting, "close");
    const session = await Session.open(storeOf(events), "x");
    const feed = agentOf(waiting, scriptedModel(["Done."]))
      .chat(say("Well?"), { session })
      [Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "run.started");
    await session.answer(open[0]?.id ?? "", { decision: "allow" });
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["Go", "", "Well?", "Done."]);
    expect(started.names).toEqual(["send"]);
    expect(checkConversation(session.state, events)).toEqual([]);
  });

  test("two answers at once, while the turn is taken up: the first counts, and the call runs once", async () => {
    for (let round = 0; round < 20; round++) {
      const started = new Started();
      const waiting = { scenes: [[call("send")]], tools: [started.tool("send", "external")], asks: ["send"] };
      const { events, open } = await ended(waiting, "close");
      const session = await Session.open(storeOf(events), "x");
      const turn = collect(agentOf(waiting, scriptedModel(["Done."])).chat(resume(), { session }));
      for (let wait = 0; wait < round; wait++) await new Promise(setImmediate);
      const given = await Promise.allSettled([
        session.answer(open[0]?.id ?? "", { decision: "allow" }),
        session.answer(open[0]?.id ?? "", { decision: "deny" }),
      ]);
      await turn;
      expect(given.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(started.names).toEqual(["send"]);
      expect(checkConversation(session.state, events)).toEqual([]);
    }
  });
});

describe.each(ENDS)("F84: a tool that asks while it runs (%s)", (end) => {
  const asking = (started: Started, effects: Effects) =>
    started.tool("survey", effects, async (_, { ask }) => {
      const first = await ask({ text: "One?" });
      const second = await ask({ text: "Two?" });
      return `${first} ${second}`;
    });

  test.each(["none", "idempotent"] as const)(
    "runs again with effects %s, and receives the answers in their order",
    async (effects) => {
      const started = new Started();
      const waiting = { scenes: [[call("survey")]], tools: [asking(started, effects)] };
      const { events, open } = await ended(waiting, end, {
        before: async (session) => {
          const [first] = session.openQuestions;
          await session.answer(first?.id ?? "", { decision: "answer", text: "a" });
          while (session.openQuestions[0] === undefined || session.openQuestions[0].id === first?.id)
            await new Promise(setImmediate);
          // The log lags behind the state.
          for (let wait = 0; wait < 5; wait++) await new Promise(setImmediate);
        },
      });
      expect(open).toMatchObject([{ text: "Two?", survives: true }]);
      const { session } = await goneOn(events, waiting, ["Thanks."], [{ decision: "answer", text: "b" }]);
      expect(outputs(session)).toEqual(["a b"]);
      expect(started.names).toEqual(["survey", "survey"]);
      expect(events.filter(({ type }) => type === "question.asked")).toHaveLength(2);
    },
  );

  test("with other effects never starts again: the question says that the outcome is unknown, and the answer ends the call", async () => {
    const started = new Started();
    const waiting = { scenes: [[call("survey")]], tools: [asking(started, "external")] };
    const { events, open } = await ended(waiting, end);
    const looking = await Session.open(storeOf(structuredClone(events)), "x");
    expect(open).toMatchObject([{ text: "One?" }]);
    expect(looking.openQuestions).toMatchObject([
      { id: open[0]?.id, text: expect.stringMatching(/^One\?\n\n.*unknown/) },
    ]);
    expect(looking.openQuestions.map((question) => isAskerLost(looking.state, question))).toEqual([true]);
    const { session, model } = await goneOn(events, waiting, ["I will look."], [{ decision: "answer", text: "a" }]);
    expect(outputs(session)).toEqual([
      "The process stopped while this call ran; whether the call took effect is unknown. The user's answer to its question came too late for it: a",
    ]);
    expect(started.names).toEqual(["survey"]);
    const shown = model.requests[0]?.messages.at(-1) as AssistantMessage | undefined;
    expect(shown?.role).toBe("assistant");
  });

  test("a decline is kept too, with its reason", async () => {
    const started = new Started();
    const waiting = { scenes: [[call("survey")]], tools: [asking(started, "idempotent")] };
    const { events } = await ended(waiting, end);
    const { session } = await goneOn(events, waiting, ["Well."], [{ decision: "deny", reason: "too private" }]);
    expect(outputs(session)).toEqual(["The tool failed: The user did not answer the question: too private"]);
  });
});

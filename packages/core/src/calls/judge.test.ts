import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { PermitRequest } from "../ports/human.ts";
import type { Answer } from "../ports/verdict.ts";
import { Session } from "../session/session.ts";
import { type Beat, call, readUntil, scriptedModel } from "../testing/index.ts";
import { callsOf, firstResponse, tool } from "./calls.fixture.ts";

describe("permission and approval", () => {
  const acts = tool("act", (input) => `did ${JSON.stringify(input)}`, { effects: "external" });
  const looks = tool("look", () => "seen");
  const asksForActs = ({ tool }: PermitRequest) =>
    tool.name === "act" ? ({ decision: "ask", pattern: "act(*)" } as const) : ({ decision: "allow" } as const);

  /** Runs one step with these calls, answering each question. */
  async function answered(
    beats: readonly Beat[],
    answer: (question: string, session: Session) => Answer,
    permission = asksForActs,
  ) {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([beats, "done"]), tools: [acts, looks], permission });
    const types: string[] = [];
    for await (const item of agent.chat(say("go"), { session })) {
      types.push(item.type);
      if (item.type === "call.approval-requested") await session.answer(item.question, answer(item.question, session));
    }
    return { calls: firstResponse(session).calls, types, session };
  }

  test("B23: a call that needs approval waits as an event, and runs once after the approval", async () => {
    const { calls, types } = await answered([call("act", { n: 1 })], () => ({ decision: "allow" }));
    expect(calls[0]).toMatchObject({ status: "completed", output: 'did {"n":1}' });
    expect(types.filter((type) => type.startsWith("call.") && !type.endsWith("delta"))).toEqual([
      "call.pending",
      "call.approval-requested",
      "call.approval-resolved",
      "call.executing",
      "call.completed",
    ]);
  });

  test("B23: a denial's reason goes to the model, and nothing runs", async () => {
    const { calls } = await answered([call("act")], () => ({ decision: "deny", reason: "not on Fridays" }));
    expect(calls[0]).toMatchObject({
      status: "denied",
      output: "The user denied this call: not on Fridays",
      attempt: 0,
    });
  });

  test.each([undefined, true, {}])(
    "B23: rules that answer %j, as only a program without types can, let nothing run",
    async (verdict) => {
      const { calls } = await answered(
        [call("act")],
        () => expect.unreachable(),
        () => verdict as never,
      );
      expect(calls[0]).toMatchObject({
        status: "failed",
        output: expect.stringMatching(/^Not executed: checking this call failed: permission must return \{ decision: /),
      });
    },
  );

  test("B23: changed arguments run, are checked and judged again, and both forms are recorded", async () => {
    const { calls } = await answered([call("act", { n: 1 })], () => ({ decision: "allow", input: { n: 2 } }));
    expect(calls[0]).toMatchObject({ input: { n: 1 }, executedInput: { n: 2 }, output: 'did {"n":2}' });
    const denyTwo = (request: PermitRequest) =>
      (request.input as { n?: number }).n === 2
        ? ({ decision: "deny", reason: "no twos" } as const)
        : asksForActs(request);
    const second = await answered(
      [call("act", { n: 1 })],
      () => ({ decision: "allow", input: { n: 2 } }),
      denyTwo as never,
    );
    expect(second.calls[0]).toMatchObject({ status: "denied", output: "Not allowed: no twos" });
  });

  test("B23: rules see the user's approvals for the conversation in its state", async () => {
    const { session } = await answered([call("act")], () => ({
      decision: "allow",
      remember: { pattern: "act(*)", scope: "conversation" },
    }));
    expect(session.state.allowed).toEqual(["act(*)"]);
  });

  test("B23: other calls of the batch that need no approval continue", async () => {
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel([[call("act"), call("look")], "done"]),
      tools: [acts, looks],
      permission: asksForActs,
    });
    const feed = agent.chat(say("go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.completed");
    expect(firstResponse(session).calls.map(({ status }) => status)).toEqual(["approval-requested", "completed"]);
    const [question] = session.state.questions.values();
    await session.answer(question?.id ?? "", { decision: "allow" });
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(firstResponse(session).calls.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  test("B23: a question is answered once", async () => {
    let late: Promise<void> | undefined;
    await answered([call("act")], (question, session) => {
      queueMicrotask(() => {
        late = session.answer(question, { decision: "deny" });
        late.catch(() => {});
      });
      return { decision: "allow" };
    });
    await expect(late).rejects.toThrow(/is not open/);
  });

  test("B22: an interrupt while a question is open cancels the call and removes the question", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[call("act")]]), tools: [acts], permission: asksForActs });
    const feed = agent.chat(say("go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.approval-requested");
    session.interrupt();
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(firstResponse(session).calls[0]).toMatchObject({
      status: "cancelled",
      output: "Not executed: interrupted by the user.",
    });
    expect(session.state.questions.size).toBe(0);
  });

  test("F25: an answer at the moment of an interrupt is refused, and the call has one result", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[call("act")]]), tools: [acts], permission: asksForActs });
    const feed = agent.chat(say("go"), { session })[Symbol.asyncIterator]();
    const asked = await readUntil(feed, (item) => item.type === "call.approval-requested");
    const results: string[] = [];
    session.listen({
      items: (items) =>
        results.push(...items.map(({ type }) => type).filter((type) => /^call\.(cancel|deni)/.test(type))),
      ended: () => {},
    });
    if (asked.type !== "call.approval-requested") throw new Error("Nothing is asked.");
    session.interrupt();
    const late = session.answer(asked.question, { decision: "deny" });
    await expect(late).rejects.toMatchObject({ code: "no-question" });
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(results).toEqual(["call.cancelled"]);
  });

  test("B22: an interrupt before a call starts keeps it from starting", async () => {
    for (const when of ["permission", "onCalls"] as const) {
      const session = Session.inMemory();
      let ran = false;
      const agent = new Agent({
        model: scriptedModel([[call("act")]]),
        tools: [{ ...acts, execute: () => (ran = true) }],
        permission: async () => {
          if (when === "permission") session.interrupt();
          return { decision: "allow" };
        },
        callbacks: when === "onCalls" ? { onCalls: () => void session.interrupt() } : {},
      });
      expect(await agent.send("go", { session })).toMatchObject({ reason: "interrupted" });
      expect(ran).toBe(false);
      expect(firstResponse(session).calls[0]).toMatchObject({ status: "cancelled" });
    }
  });

  test("B22: an interrupt ends a rule that never answers", async () => {
    const session = Session.inMemory();
    const asked = Promise.withResolvers<void>();
    const permission = () => {
      asked.resolve();
      return new Promise<never>(() => {});
    };
    const turn = new Agent({ model: scriptedModel([[call("act")]]), tools: [acts], permission }).send("go", {
      session,
    });
    await asked.promise;
    await session.close();
    expect(await turn).toMatchObject({ reason: "interrupted" });
    expect(firstResponse(session).calls[0]).toMatchObject({ status: "cancelled", attempt: 0 });
  });

  test("an unknown answer or verdict runs no call", async () => {
    const session = Session.inMemory();
    const model = scriptedModel([[call("act")]]);
    const permission = () => ({ decision: "denied" }) as never;
    const turn = new Agent({ model, tools: [acts], permission }).send("go", { session });
    await expect(turn).rejects.toMatchObject({ code: "defect", message: expect.stringContaining('"denied"') });
    expect(firstResponse(session).calls[0]).toMatchObject({ status: "failed", attempt: 0 });
    const refused: unknown[] = [];
    await answered([call("act")], (question, session) => {
      for (const wrong of [
        { decision: "no" },
        { decision: "allow", input: () => 1 },
        { decision: "allow", input: 1n },
      ]) {
        session.answer(question, wrong as never).catch((error: unknown) => refused.push(error));
      }
      return { decision: "deny" };
    });
    expect(refused.map((error) => error instanceof TypeError)).toEqual([true, true, true]);
  });

  test("a tool's changes of its arguments change nothing in the log", async () => {
    const changes = tool("act", (input) => ((input as { n: number }).n = 99), { effects: "external" });
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel([[call("act", { n: 1 })], "done"]),
      tools: [changes],
      permission: asksForActs,
    });
    for await (const item of agent.chat(say("go"), { session })) {
      if (item.type === "call.approval-requested")
        await session.answer(item.question, { decision: "allow", input: { n: 2 } });
    }
    expect(firstResponse(session).calls[0]).toMatchObject({ input: { n: 1 }, executedInput: { n: 2 } });
  });

  test("a rule that throws an error runs no call", async () => {
    const broken = () => {
      throw new Error("rules are broken");
    };
    const [first] = await callsOf([call("act")], [acts], { permission: broken });
    expect(first).toMatchObject({
      status: "failed",
      output: "Not executed: checking this call failed: rules are broken",
    });
  });
});

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { AssistantMessage, Call } from "../conversation/message.ts";
import type { Answer, PermitRequest } from "../ports/human.ts";
import type { Tool } from "../ports/tool.ts";
import { defineTool } from "../ports/tool.ts";
import { Session } from "../session/session.ts";
import { type Beat, call, collect, end, rawCall, readUntil, scriptedModel, text } from "../testing/index.ts";

const OBJECT = { type: "object" } as const;

function tool(name: string, execute: Tool["execute"], more: Partial<Tool> = {}): Tool {
  return { name, description: name, input: OBJECT, effects: "none", execute, ...more };
}

/** Runs one step with these calls and one with a text; answers the calls as they ended. */
async function callsOf(
  beats: readonly Beat[],
  tools: readonly Tool[],
  more: Partial<AgentOptions> = {},
): Promise<readonly Call[]> {
  const session = Session.inMemory();
  const model = scriptedModel([beats, "done"]);
  const turn = await new Agent({ model, tools, ...more }).send("go", { session });
  expect(turn.text).toBe("done");
  return firstAnswer(session).calls;
}

function firstAnswer(session: Session): AssistantMessage {
  for (const message of session.state.messages.values()) if (message.role === "assistant") return message;
  throw new Error("There is no answer.");
}

describe("arguments", () => {
  const sized = defineTool({
    name: "sized",
    description: "",
    input: z.object({ box: z.object({ width: z.number() }) }),
    effects: "none",
    execute: ({ box }) => `width ${box.width}`,
  });
  const plain = tool("plain", (input) => input, {
    input: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false },
  });

  test("B15: arguments that fit are handed over as parsed, checked by zod or JSON Schema", async () => {
    const calls = await callsOf([call("sized", { box: { width: 3 } }), call("plain", { n: 1 })], [sized, plain]);
    expect(calls.map(({ output }) => output)).toEqual(["width 3", '{"n":1}']);
  });

  test("B15: arguments that are not JSON give a result that says so; nothing runs", async () => {
    const [first] = await callsOf([rawCall("plain", '{"n": 1')], [plain]);
    expect(first).toMatchObject({ status: "failed", attempt: 0, inputText: '{"n": 1' });
    expect(first?.output).toMatch(/arguments of "plain" are not JSON: .+\. Send one JSON object\./);
  });

  test("B15: arguments that do not fit give a result that names the path and the expectation", async () => {
    const [byZod, byJsonSchema] = await callsOf(
      [call("sized", { box: { width: "3" } }), call("plain", { n: "x" })],
      [sized, plain],
    );
    expect(byZod?.output).toMatch(/^The arguments of "sized" do not fit: at box\.width: .*expected number/);
    expect(byJsonSchema?.output).toMatch(/^The arguments of "plain" do not fit: at n: .*Expected "number"\.$/);
  });

  test("B15: a call written as a JSON string inside a string is unwrapped", async () => {
    const [first] = await callsOf([rawCall("plain", JSON.stringify('{"n": 7}'))], [plain]);
    expect(first).toMatchObject({ status: "completed", output: '{"n":7}', input: { n: 7 } });
  });

  test("B15: no arguments at all are an empty object", async () => {
    const [first] = await callsOf([rawCall("any", "")], [tool("any", (input) => input)]);
    expect(first?.output).toBe("{}");
  });

  test("B15: an unknown tool's result names the near ones", async () => {
    const [near, far] = await callsOf([call("plian"), call("teleport")], [plain, sized]);
    expect(near?.output).toBe('There is no tool "plian". Did you mean plain?');
    expect(far?.output).toBe('There is no tool "teleport". There are: plain, sized.');
  });
});

describe("failures stay where they are", () => {
  test("B16: a tool that throws or rejects gives a result, and the others keep theirs", async () => {
    const calls = await callsOf(
      [call("throws"), call("rejects"), call("works")],
      [
        tool("throws", () => {
          throw new Error("no disk");
        }),
        tool("rejects", () => Promise.reject(new Error("no net"))),
        tool("works", () => "fine"),
      ],
    );
    expect(calls.map(({ status, output }) => [status, output])).toEqual([
      ["failed", "The tool failed: no disk"],
      ["failed", "The tool failed: no net"],
      ["completed", "fine"],
    ]);
  });

  test("B16: whatever a tool throws is a result", async () => {
    const throws = (thrown: unknown) => () => {
      throw thrown;
    };
    const calls = await callsOf(
      [call("nothing"), call("bare"), call("text")],
      [tool("nothing", throws(undefined)), tool("bare", throws(Object.create(null))), tool("text", throws("no"))],
    );
    expect(calls.map(({ output }) => output)).toEqual([
      "The tool failed: undefined",
      "The tool failed: something was thrown that cannot be written down",
      "The tool failed: no",
    ]);
  });

  test("what a tool says after its call has ended is not heard", async () => {
    let later = (_: string) => {};
    const talks = tool("talks", (_, { progress }) => {
      later = progress;
      return "done";
    });
    const model = scriptedModel([[call("talks")], "done"]);
    const types: string[] = [];
    for await (const item of new Agent({ model, tools: [talks] }).chat(say("go"))) {
      types.push(item.type);
      if (item.type === "call.completed") later("too late");
    }
    expect(types).not.toContain("call.output.delta");
  });

  test("B16: a tool that hangs is ended at its time limit, and its signal aborts", async () => {
    let aborted = false;
    const hangs = tool(
      "hangs",
      (_, { signal, progress }) => {
        progress("half ");
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve("half the work");
          });
        });
      },
      { timeout: 20 },
    );
    const [first] = await callsOf([call("hangs")], [hangs]);
    expect(aborted).toBe(true);
    expect(first).toMatchObject({ status: "failed" });
    expect(first?.output).toBe('Stopped: "hangs" ran longer than its limit of 20 ms. Until then:\nhalf the work');
  });

  test("B16: an answer that cannot be written as JSON is a failure, not an exception", async () => {
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const calls = await callsOf([call("cyclic"), call("big")], [tool("cyclic", () => loop), tool("big", () => 1n)]);
    expect(calls.map(({ status }) => status)).toEqual(["failed", "failed"]);
    expect(calls[0]?.output).toMatch(/^The tool failed: .*circular/i);
  });

  test("B16, B17: of a flood the head and the tail are kept, with the number of bytes between them", async () => {
    const flood = `${"a".repeat(300_000)}é${"z".repeat(300_000)}`;
    const [bounded, small] = await callsOf(
      [call("floods"), call("small")],
      [tool("floods", () => flood), tool("small", () => flood, { maxOutput: 101 })],
    );
    expect(bounded?.output?.length).toBeLessThan(66_000);
    expect(bounded?.output).toMatch(/^a+\n\[\.\.\. 534466 of 600002 bytes left out here \.\.\.\]\nz+$/);
    expect(small?.output).toMatch(/^a{51}\n\[\.\.\. 599901 of 600002 bytes left out here \.\.\.\]\nz{50}$/);
  });

  test("B17: what a tool says while it runs streams to the feed, and is not told to the model", async () => {
    const talks = tool("talks", (_, { progress }) => {
      progress("step 1\n");
      progress("step 2\n");
      return "result";
    });
    const model = scriptedModel([[call("talks")], "done"]);
    const items = await collect(new Agent({ model, tools: [talks] }).chat(say("go")));
    const said = items.flatMap((item) => (item.type === "call.output.delta" ? [item.text] : []));
    expect(said).toEqual(["step 1\n", "step 2\n"]);
    expect(JSON.stringify(model.requests[1]?.messages)).not.toContain("step 1");
  });

  test("B18: a message cut off by the output limit runs none of its calls, and the model is told", async () => {
    let ran = 0;
    const calls = await callsOf([call("count"), rawCall("count", '{"a'), end("length")], [tool("count", () => ++ran)]);
    expect(ran).toBe(0);
    for (const { status, output } of calls) {
      expect(status).toBe("failed");
      expect(output).toMatch(/^Not executed: your message was cut off/);
    }
  });
});

describe("order", () => {
  /** Tools that log when they begin and end, and take as long as they are told. */
  function timed(log: string[], name: string, more: Partial<Tool>): Tool {
    return tool(
      name,
      async (input) => {
        const { id, ms } = input as { id: string; ms: number };
        log.push(`+${id}`);
        await new Promise((resolve) => setTimeout(resolve, ms));
        log.push(`-${id}`);
        return id;
      },
      more,
    );
  }

  test("neighbours that only look run together; one with effects runs alone; results keep the order of the calls", async () => {
    const log: string[] = [];
    const calls = await callsOf(
      [
        call("look", { id: "a", ms: 30 }),
        call("look", { id: "b", ms: 5 }),
        call("act", { id: "c", ms: 10 }),
        call("act", { id: "d", ms: 1 }),
        call("look", { id: "e", ms: 1 }),
      ],
      [timed(log, "look", {}), timed(log, "act", { effects: "external" })],
    );
    expect(log).toEqual(["+a", "+b", "-b", "-a", "+c", "-c", "+d", "-d", "+e", "-e"]);
    expect(calls.map(({ output }) => output)).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("tools with effects that say parallel run together", async () => {
    const log: string[] = [];
    await callsOf(
      [call("act", { id: "a", ms: 20 }), call("act", { id: "b", ms: 1 })],
      [timed(log, "act", { effects: "external", parallel: true })],
    );
    expect(log).toEqual(["+a", "+b", "-b", "-a"]);
  });

  test("at most ten run at once", async () => {
    let running = 0;
    let most = 0;
    const crowd = tool("crowd", async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
      return "";
    });
    const calls = await callsOf(
      Array.from({ length: 35 }, () => call("crowd")),
      [crowd],
    );
    expect(most).toBe(10);
    expect(calls.every(({ status }) => status === "completed")).toBe(true);
  });

  test("two parallel calls of the same tool each get their own result", async () => {
    const echo = tool("echo", (input) => (input as { say: string }).say);
    const calls = await callsOf([call("echo", { say: "one" }), call("echo", { say: "two" })], [echo]);
    expect(calls.map(({ output }) => output)).toEqual(["one", "two"]);
  });

  test("B14: the provider's ids are kept; missing and repeated ones are repaired before anything runs", async () => {
    const session = Session.inMemory();
    const ids: string[] = [];
    const note = tool("note", (_, context) => void ids.push(context.call));
    const model = scriptedModel([
      [call("note", {}, "own"), call("note", {}, ""), call("note", {}, "own")],
      [call("note", {}, "own")],
      "done",
    ]);
    await new Agent({ model, tools: [note] }).send("go", { session });
    expect(ids[0]).toBe("own");
    expect(new Set(ids).size).toBe(4);
    const results = model.requests
      .at(-1)
      ?.messages.flatMap((m) => (m.role === "assistant" ? m.results.map((r) => r.call) : []));
    expect(results).toEqual(ids);
  });

  test("a call knows its id, attempt, key, step, path and tree", async () => {
    const seen: unknown[] = [];
    const knows = tool("knows", (_, context) => {
      const { call, attempt, key, step, path, agent, conversation } = context;
      seen.push([call, attempt, key, step, agent, path.map(({ role }) => role), conversation.messages.size]);
    });
    const model = scriptedModel([[text("x"), call("knows", {}, "c1")], [call("knows", {}, "c2")], "done"]);
    await new Agent({ name: "me", model, tools: [knows] }).send("go");
    const keys = seen.map((entry) => (entry as string[])[2]);
    expect(seen).toEqual([
      ["c1", 1, keys[0], 1, "me", ["user", "assistant"], 2],
      ["c2", 1, keys[1], 2, "me", ["user", "assistant", "assistant"], 3],
    ]);
    // Ids of calls are unique in their conversation only; the key is unique everywhere.
    expect(keys[0]).toMatch(/^[0-9a-z]{26}\.c1$/);
  });
});

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
    return { calls: firstAnswer(session).calls, types, session };
  }

  test("B23: a call that must be asked for waits as an event, and runs once allowed", async () => {
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

  test("B23: what a person allows for the conversation is in its state, for the rules to see", async () => {
    const { session } = await answered([call("act")], () => ({
      decision: "allow",
      remember: { pattern: "act(*)", scope: "conversation" },
    }));
    expect(session.state.allowed).toEqual(["act(*)"]);
  });

  test("B23: others of the batch that need no approval go on meanwhile", async () => {
    const session = Session.inMemory();
    const agent = new Agent({
      model: scriptedModel([[call("act"), call("look")], "done"]),
      tools: [acts, looks],
      permission: asksForActs,
    });
    const feed = agent.chat(say("go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.completed");
    expect(firstAnswer(session).calls.map(({ status }) => status)).toEqual(["approval-requested", "completed"]);
    const [question] = session.state.questions.values();
    await session.answer(question?.id ?? "", { decision: "allow" });
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(firstAnswer(session).calls.map(({ status }) => status)).toEqual(["completed", "completed"]);
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
    await expect(late).rejects.toThrow(/No question/);
  });

  test("B22: an interrupt while a question is open cancels the call and removes the question", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel([[call("act")]]), tools: [acts], permission: asksForActs });
    const feed = agent.chat(say("go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.approval-requested");
    session.interrupt();
    await readUntil(feed, (item) => item.type === "chat.ended");
    expect(firstAnswer(session).calls[0]).toMatchObject({
      status: "cancelled",
      output: "Not executed: interrupted by the user.",
    });
    expect(session.state.questions.size).toBe(0);
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
      expect(firstAnswer(session).calls[0]).toMatchObject({ status: "cancelled" });
    }
  });

  test("B22: a rule that never answers can be interrupted", async () => {
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
    expect(firstAnswer(session).calls[0]).toMatchObject({ status: "cancelled", attempt: 0 });
  });

  test("an answer or a verdict that nobody knows lets nothing run", async () => {
    const [first] = await callsOf([call("act")], [acts], { permission: () => ({ decision: "denied" }) as never });
    expect(first).toMatchObject({ status: "failed", attempt: 0 });
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

  test("what a tool does to its arguments changes nothing in the log", async () => {
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
    expect(firstAnswer(session).calls[0]).toMatchObject({ input: { n: 1 }, executedInput: { n: 2 } });
  });

  test("a rule that throws lets nothing run", async () => {
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

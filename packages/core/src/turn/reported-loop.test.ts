import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { isSettled, textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { defineTool } from "../ports/define-tool.ts";
import { ModelError, type ModelPart } from "../ports/model.ts";
import type { LoopDriver, TurnSink } from "../ports/tool.ts";
import { letPass, stopTheClock } from "../run/clock.fixture.ts";
import { Session } from "../session/session.ts";
import { call, collect, readUntil, scriptedModel, text } from "../testing/index.ts";

const usage = { input: 1, output: 1, cached: 0, cacheWrite: 0, reasoning: 0 };

function loop(run: LoopDriver["run"], more: Partial<LoopDriver> = {}): LoopDriver {
  return { id: "remote/agent", family: "remote", run, ...more };
}

/** Reports a text and calls of these tools as one answer. */
async function answer(sink: TurnSink, said: string, ...tools: readonly string[]) {
  const parts: ModelPart[] = [{ type: "text", text: said }];
  tools.forEach((tool, index) => {
    parts.push({ type: "call", index, id: `call_${tool}`, tool }, { type: "call-input", index, text: "{}" });
    parts.push({ type: "call-end", index });
  });
  const model = await sink.begin();
  model.push([...parts, { type: "finish", reason: tools.length > 0 ? "calls" : "stop", usage }]);
  return sink.complete();
}

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});

async function run(driver: LoopDriver, more: Partial<AgentOptions> = {}, session = Session.inMemory()) {
  const agent = new Agent({ model: driver, tools: [look], ...more });
  return { turn: await agent.send("Go", { session }), session, items: [] };
}

describe("B61: a loop that runs whole turns", () => {
  test("gives the same tree, the same events and the same cost as the step loop", async () => {
    const price = { input: 1_000_000, output: 1_000_000 };
    const remote = loop(
      async (_, sink) => {
        const [asked] = await answer(sink, "Looking.", "look");
        await sink.execute(asked!.id);
        await answer(sink, "Seen.");
      },
      { price },
    );
    const own = scriptedModel([[text("Looking."), call("look")], "Seen."], { id: "remote/agent", price });
    const shapes = [];
    for (const model of [remote, own]) {
      const session = Session.inMemory();
      const items = await collect(new Agent({ model, tools: [look] }).chat(say("Go"), { session }));
      const events = items.filter((item) => "at" in item).map(({ type }) => type);
      const messages = pathTo(session.state, session.state.leaf).map((message) =>
        message.role === "assistant"
          ? [textOf(message), message.finish, message.cost, message.calls.map(({ status, output }) => [status, output])]
          : textOf(message),
      );
      shapes.push({ events, messages, usage: session.state.usage, cost: session.state.cost });
    }
    expect(shapes[0]).toEqual(shapes[1]);
  });

  test("runs its own calls, with their states and output in the feed", async () => {
    const remote = loop(async (_, sink) => {
      const [first, second] = await answer(sink, "Working.", "compile", "deploy");
      await sink.started(first!.id);
      sink.progress(first!.id, "50 %");
      await sink.ended(first!.id, { output: "compiled", failed: false });
      await sink.started(second!.id);
      await sink.ended(second!.id, { output: "no rights", failed: true });
      await answer(sink, "Half done.");
    });
    const told: string[] = [];
    const callbacks = {
      onCall: ({ tool, status }: { tool: string; status: string }) => void told.push(`${tool} ${status}`),
    };
    const items = await collect(new Agent({ model: remote, callbacks }).chat(say("Go")));
    const states = items.flatMap((item) =>
      item.type.startsWith("call.") && "call" in item && "at" in item ? [item.type] : [],
    );
    expect(states).toEqual([
      "call.pending",
      "call.pending",
      "call.executing",
      "call.completed",
      "call.executing",
      "call.failed",
    ]);
    expect(items).toContainEqual(expect.objectContaining({ type: "call.output.delta", text: "50 %" }));
    expect(told).toEqual(["compile completed", "deploy failed"]);
  });

  test("calls the agent's tools with the usual check and permission", async () => {
    const results: string[] = [];
    const remote = loop(async (_, sink) => {
      for (const { id } of await answer(sink, "Trying.", "look", "nothing"))
        results.push((await sink.execute(id)).output);
      await answer(sink, "Done.");
    });
    await run(remote, { permission: () => ({ decision: "deny", reason: "not today" }) });
    expect(results).toEqual(["Not allowed: not today", 'There is no tool "nothing". There are: look.']);
  });

  test("gets a user's interjection as a user message between two answers", async () => {
    const told: string[] = [];
    const remote = loop(async (_, sink) => {
      await answer(sink, "Starting.");
      await sink.interjected("Faster, please.");
      await answer(sink, "Hurrying.");
    });
    const { session } = await run(remote, {
      callbacks: { onInterjection: (message) => void told.push(textOf(message)) },
    });
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual([
      "Go",
      "Starting.",
      "Faster, please.",
      "Hurrying.",
    ]);
    expect(told).toEqual(["Faster, please."]);
  });

  test("invariant 1: gets a result for each call that it forgets", async () => {
    const remote = loop(async (_, sink) => {
      await answer(sink, "Asking.", "look");
      await answer(sink, "Never mind.");
      await answer(sink, "Asking again.", "look");
    });
    const { session } = await run(remote);
    expect([...session.state.messages.values()].every(isSettled)).toBe(true);
  });

  test("B22: keeps the partial answer at an interrupt, its calls are cancelled, and later reports are refused", async () => {
    let late: () => Promise<unknown> = async () => {};
    const remote = loop(async (_, sink, signal) => {
      await answer(sink, "First.", "look");
      const model = await sink.begin();
      model.push([{ type: "text", text: "Half a" }]);
      late = () => sink.begin();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    const session = Session.inMemory();
    const feed = new Agent({ model: remote, tools: [look] }).chat(say("Go"), { session })[Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "text.delta" && item.text === "Half a");
    session.interrupt();
    expect(await readUntil(feed, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
    const messages = pathTo(session.state, session.state.leaf);
    expect(messages.map(textOf)).toEqual(["Go", "First.", "Half a"]);
    expect(messages.every(isSettled)).toBe(true);
    await expect(late()).rejects.toThrow("The turn has ended; nothing more can be reported.");
  });

  test("B9: fails the turn with its error, and its reports stay", async () => {
    const remote = loop(async (_, sink) => {
      await answer(sink, "First.");
      const model = await sink.begin();
      model.push([{ type: "text", text: "Half" }]);
      throw new ModelError("overloaded", "The service is overloaded.");
    });
    const session = Session.inMemory();
    await expect(run(remote, {}, session)).rejects.toMatchObject({ code: "overloaded" });
    expect(pathTo(session.state, session.state.leaf).map(textOf)).toEqual(["Go", "First.", "Half"]);
    expect([...session.state.messages.values()].at(-1)).toMatchObject({ finish: "error" });
  });

  test("B13: limits of steps and time end it", async () => {
    const endless = loop(async (_, sink) => {
      for (;;) await answer(sink, "More.");
    });
    const steps = await run(endless, { limits: { steps: 3 } });
    expect(steps.turn).toMatchObject({ reason: "limit", steps: 3, text: "More." });
    stopTheClock();
    const sleepy = loop(async (_, sink, signal) => {
      await answer(sink, "Waiting.");
      letPass(50);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    expect((await run(sleepy, { limits: { time: 50 } })).turn).toMatchObject({ reason: "limit", text: "Waiting." });
    await expect(run(endless, { limits: { steps: 2, policy: "fail" } })).rejects.toMatchObject({ code: "limit" });
  });

  test("keeps a started call beside the next response, which cancels calls that had not started", async () => {
    const remote = loop(async (_, sink) => {
      const [long, never] = await answer(sink, "Compiling.", "compile", "look");
      await sink.started(long!.id, { command: "make" });
      await answer(sink, "Meanwhile.");
      sink.progress(long!.id, "50 %");
      await sink.ended(long!.id, { output: "compiled", failed: false });
      await expect(sink.ended(never!.id, { output: "", failed: false })).rejects.toThrow("already has a result");
    });
    const { session } = await run(remote);
    const [, first] = pathTo(session.state, session.state.leaf);
    expect(first).toMatchObject({
      calls: [
        { tool: "compile", status: "completed", output: "compiled", about: { command: "make" } },
        { tool: "look", status: "cancelled", output: "Not executed: the agent continued without this call." },
      ],
    });
  });

  test("has its own calls judged, asked about and run like those of its tools", async () => {
    const judged: unknown[] = [];
    const results: unknown[] = [];
    const remote = loop(async (_, sink) => {
      const [first, second] = await answer(sink, "May I?", "theirs", "theirs");
      for (const { id } of [first!, second!]) {
        const tool = { ...look, name: "theirs", about: () => ({ command: "ls" }), execute: () => `ran ${id}` };
        results.push(await sink.execute(id, tool));
      }
    });
    const session = Session.inMemory();
    const permission = ({ tool, call }: { tool: { name: string }; call: string }) => {
      judged.push(tool.name);
      return call === "call_theirs" ? ({ decision: "ask" } as const) : ({ decision: "deny", reason: "no" } as const);
    };
    for await (const item of new Agent({ model: remote, permission }).chat(say("Go"), { session })) {
      if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "allow" });
    }
    expect(judged).toEqual(["theirs", "theirs"]);
    expect(results).toMatchObject([
      { output: "ran call_theirs", failed: false },
      { output: "Not allowed: no", failed: true },
    ]);
    const [, response] = pathTo(session.state, session.state.leaf);
    expect(response).toMatchObject({
      calls: [{ status: "completed", approved: true, about: { command: "ls" } }, { status: "denied" }],
    });
  });

  test("has the file changes of its calls with the calls, and its reported cost counts", async () => {
    const change = { path: "a", kind: "created", before: null, after: "1", added: 1, removed: 0, diff: "+x" } as const;
    const remote = loop(
      async (_, sink) => {
        const [write] = await answer(sink, "Writing.", "write");
        await sink.started(write!.id);
        await sink.changed(write!.id, change);
        await sink.ended(write!.id, { output: "written", failed: false });
        const model = await sink.begin();
        model.push([
          { type: "text", text: "Done." },
          { type: "finish", reason: "stop", usage, cost: 0.25 },
        ]);
        await sink.complete();
      },
      { price: { input: 0, output: 0 } },
    );
    const { session, turn } = await run(remote);
    const [, response] = pathTo(session.state, session.state.leaf);
    expect(response).toMatchObject({ calls: [{ status: "completed", changes: [change] }] });
    expect(turn.cost).toBe(0.25);
  });

  test("learns that another branch continued from its response", async () => {
    const told: boolean[] = [];
    const remote = loop(async ({ branched }, sink) => {
      told.push(branched);
      await answer(sink, "Here.");
    });
    const { session } = await run(remote);
    const first = session.state.leaf;
    const agent = new Agent({ model: remote });
    await agent.send("On", { session });
    await agent.send("Another way", { session, at: first! });
    await agent.send("And on", { session });
    expect(told).toEqual([false, false, true, false]);
  });

  test("with only its own tools learns of no others, and its last response ends a task", async () => {
    const given: unknown[] = [];
    const remote = loop(
      async ({ instructions, tools }, sink) => {
        given.push(instructions, tools);
        await answer(sink, "Done.");
      },
      { ownTools: true },
    );
    const agent = { mode: "task", instructions: "Be short." } as const;
    expect((await run(remote, agent)).turn).toMatchObject({ reason: "finished", result: "Done." });
    expect(given).toEqual(["Be short.", []]);
    const output = { type: "object", properties: {} } as const;
    await expect(run(remote, { ...agent, output })).rejects.toMatchObject({
      code: "output",
      turn: { result: undefined },
    });
  });

  test("gets an error with a remedy for a report out of order", async () => {
    const problems: string[] = [];
    const attempt = async (work: () => unknown) => {
      try {
        await work();
      } catch (error) {
        problems.push((error as Error).message);
      }
    };
    const remote = loop(async (_, sink) => {
      await attempt(() => sink.complete());
      await sink.begin();
      await attempt(() => sink.begin());
      await attempt(() => sink.complete());
      await attempt(() => sink.started("call_x"));
      await attempt(() => sink.interjected("?"));
    });
    await run(remote);
    expect(problems).toEqual([
      "complete() was called without a current answer. Call begin() first.",
      "begin() was called before the current answer was completed.",
      "complete() before the answer's finish was pushed.",
      "Call call_x does not belong to a completed answer.",
      "interjected() was called in the middle of an answer. Complete the answer first.",
    ]);
  });
});

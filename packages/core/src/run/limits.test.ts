import { describe, expect, test, vi } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { defineTool } from "../ports/define-tool.ts";
import { Session } from "../session/session.ts";
import { call, collect, fail, pause, scriptedModel, spend, stall, text } from "../testing/index.ts";
import { stopTheClock, taking } from "./clock.fixture.ts";
import type { Limits } from "./limits.ts";

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: () => "seen",
});

/** A model that calls a tool as long as it may, and then wraps up. */
function eager(usage = { input: 10, output: 10 }) {
  return scriptedModel(
    ({ toolChoice }, index) =>
      toolChoice === "none" ? [spend(usage), text("Wrapped up.")] : [spend(usage), call("look", { index })],
    {
      price: { input: 100_000, output: 100_000 },
    },
  );
}

async function run(limits: Limits, model = eager()) {
  const session = Session.inMemory();
  const turn = await new Agent({ model, tools: [look], limits }).send("Go", { session });
  return { turn, model, session };
}

describe("limits", () => {
  test("B13: the turn ends with an answer at the step limit: one last call without tools, with the reason", async () => {
    const { turn, model, session } = await run({ steps: 3 });
    expect(turn).toMatchObject({ reason: "limit", text: "Wrapped up.", steps: 3 });
    expect(model.asked).toBe(4);
    const last = model.requests.at(-1);
    expect(last).toMatchObject({ toolChoice: "none", tools: [{ name: "look" }] });
    const told = [...session.state.messages.values()].find(
      (message) => message.role === "user" && message.author === "system",
    );
    expect(told && textOf(told)).toContain("the limit of 3 steps");
  });

  test("the log's end of a turn has the limit that ended it, and its usage", async () => {
    const session = Session.inMemory();
    const items: FeedItem[] = [];
    session.listen({ items: (told) => items.push(...told), ended: () => {} });
    const agent = new Agent({ model: eager(), tools: [look], limits: { steps: 2 } });
    const { limit, steps, usage, cost } = await agent.send("Go", { session });
    expect(limit).toBe("the limit of 2 steps");
    expect(items.at(-1)).toMatchObject({ type: "run.ended", limit, spent: { steps, usage, cost } });
    expect(session.state.broken.get(session.state.leaf ?? "")?.message).toBe(`The turn reached ${limit}.`);
  });

  test("B13: fifty steps are the default", async () => {
    const { turn, model } = await run({});
    expect(turn.steps).toBe(50);
    expect(model.asked).toBe(51);
  });

  test("a model that calls against the order gets refusals, and the turn ends with a sentence that says so", async () => {
    const model = scriptedModel(() => [call("look")]);
    const { turn, session } = await run({ steps: 2 }, model);
    expect(turn.reason).toBe("limit");
    expect(turn.text).toContain("(Stopped: the turn reached the limit of 2 steps.)");
    const last = [...session.state.messages.values()].at(-1);
    expect(last).toMatchObject({
      calls: [{ status: "failed", output: "Not executed: no tools can be used any more in this turn." }],
    });
    expect(model.asked).toBe(3);
  });

  test("B13: a token limit keeps room for the last word", async () => {
    const { turn } = await run({ tokens: 100 });
    expect(turn).toMatchObject({ reason: "limit", text: "Wrapped up." });
    expect(turn.usage.input + turn.usage.output).toBeLessThanOrEqual(100);
  });

  test("B13: a cost limit is applied, and refused at the start if the price is unknown", async () => {
    const { turn } = await run({ cost: 11 });
    expect(turn.reason).toBe("limit");
    expect(turn.cost).toBeLessThanOrEqual(11);
    const unknown = scriptedModel(["never"]);
    await expect(run({ cost: 1 }, unknown)).rejects.toMatchObject({ name: "LimitError", code: "unknown-price" });
    expect(unknown.asked).toBe(0);
  });

  test("B13: a time limit ends running calls and keeps a tenth for the last text", async () => {
    const model = scriptedModel(({ toolChoice }) => (toolChoice === "none" ? "In short." : [text("Long "), stall()]));
    stopTheClock();
    const { turn, session } = await run({ time: 200 }, taking({ auto: 180, none: 19 }, model));
    expect(turn).toMatchObject({ reason: "limit", text: "In short." });
    expect([...session.state.messages.values()].map(textOf)).toContain("Long ");
  });

  test("B13: a last text that takes too long is cut, and the turn ends", async () => {
    stopTheClock();
    const model = scriptedModel(() => [text("Long "), stall()]);
    const { turn } = await run({ time: 100 }, taking({ auto: 90, none: 10 }, model));
    expect(turn).toMatchObject({ reason: "limit", text: "Long " });
  });

  test("F38: a failed last text leaves the limit as the reason, and is reported too", async () => {
    const model = scriptedModel((_, index) => (index === 0 ? [text("So far."), call("look")] : [fail("quota")]));
    const ended = run({ steps: 1 }, model);
    await expect(ended).rejects.toMatchObject({
      code: "limit",
      message: "The turn reached the limit of 1 step, and the final answer failed: scripted: quota",
      turn: { reason: "limit", limit: "the limit of 1 step", steps: 1 },
    });
  });

  test("B13: policy fail ends the turn with an error and without a further model call", async () => {
    const model = eager();
    await expect(run({ steps: 2, policy: "fail" }, model)).rejects.toMatchObject({
      code: "limit",
      message: "The turn reached the limit of 2 steps.",
      turn: { reason: "limit", steps: 2 },
    });
    expect(model.asked).toBe(2);
  });

  test("B13: policy ask pauses for a user; yes grants the same amount again, no leads to the last text", async () => {
    const session = Session.inMemory();
    const model = eager();
    const agent = new Agent({ model, tools: [look], limits: { steps: 2, policy: "ask" } });
    let asked = 0;
    const items = [];
    for await (const item of agent.chat(say("Go"), { session })) {
      items.push(item);
      if (item.type !== "run.paused") continue;
      expect([...session.state.questions.values()]).toMatchObject([
        { type: "limit", id: item.question, run: item.run },
      ]);
      for (const more of [{ input: {} }, { remember: { pattern: "look", scope: "conversation" } as const }])
        await expect(session.answer(item.question, { decision: "allow", ...more })).rejects.toThrow(
          /without arguments/,
        );
      await session.answer(item.question, asked++ === 0 ? { decision: "allow" } : { decision: "deny" });
    }
    expect(asked).toBe(2);
    expect(model.asked).toBe(5);
    expect(items.at(-1)).toEqual({ type: "chat.ended", reason: "limit" });
  });

  test("B13: steps are counted for each turn", async () => {
    const session = Session.inMemory();
    const model = scriptedModel((_, index) => (index % 3 === 2 ? "done" : [call("look")]));
    const agent = new Agent({ model, tools: [look], limits: { steps: 3 } });
    expect((await agent.send("one", { session })).reason).toBe("answered");
    expect((await agent.send("two", { session })).reason).toBe("answered");
  });

  test("B13: a time limit of months does not end at once", async () => {
    const { turn } = await run({ time: 90 * 24 * 3_600_000 }, scriptedModel(["ok"]));
    expect(turn).toMatchObject({ reason: "answered", limit: undefined });
  });

  test("B13: a user's time to answer does not count for the turn, and the last text has its own time", async () => {
    stopTheClock();
    const session = Session.inMemory();
    const script = scriptedModel(({ toolChoice }) =>
      toolChoice === "none" ? [pause(5), text("In short.")] : [stall()],
    );
    const model = taking({ auto: 100, none: 5 }, script);
    const agent = new Agent({ model, limits: { time: 100, policy: "ask" } });
    let asked = 0;
    for await (const item of agent.chat(say("Go"), { session })) {
      if (item.type !== "run.paused") continue;
      vi.advanceTimersByTime(250);
      await session.answer(item.question, asked++ === 0 ? { decision: "allow" } : { decision: "deny" });
    }
    expect(asked).toBe(2);
    expect([...session.state.messages.values()].map(textOf).at(-1)).toBe("In short.");
  });

  test("limits that mean nothing are refused", async () => {
    for (const limits of [{ steps: 0 }, { tokens: -1 }, { time: Number.NaN }, { cost: 0 }, { repeats: 1.5 }]) {
      await expect(run(limits)).rejects.toMatchObject({ code: "invalid-limit" });
    }
  });

  test("a run that a limit ended leaves the conversation usable", async () => {
    const { session, model } = await run({ steps: 1 });
    const items = await collect(
      new Agent({ model, tools: [look], limits: { steps: 1 } }).chat(say("More"), { session }),
    );
    expect(items.at(-1)).toMatchObject({ reason: "limit" });
    expect(session.state.runs.size).toBe(0);
  });
});

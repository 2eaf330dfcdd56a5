import { beforeAll, describe, expect, test, vi } from "vitest";
import type { FeedItem } from "../conversation/feed-item.ts";
import { noUsage } from "../conversation/usage.ts";
import { RateLimit } from "../ports/rate-limit.ts";
import type { LoopDriver } from "../ports/tool.ts";
import { stopTheClock } from "../run/clock.fixture.ts";
import { Session } from "../session/session.ts";
import { call, collect, fail, finishTask, scriptedModel, spend, text } from "../testing/index.ts";
import { Agent } from "./agent.ts";
import { handOff } from "./control/hand-off.ts";
import { launchAgent } from "./control/launch-agent.ts";
import { say } from "./directive.ts";

const never = new AbortController().signal;
const nobody = () => {};

/** Seconds since `begun` on the stopped clock. */
const secondsSince = (begun: number) => Math.round((performance.now() - begun) / 1_000);

function waits(items: readonly FeedItem[]) {
  return items.flatMap((item) => (item.type === "model.retrying" ? [item] : []));
}

describe("calls that share a limit", () => {
  test("L6: no minute has more requests or tokens than the limit", async () => {
    stopTheClock();
    const seed = Number(process.env.BANYAN_SEED ?? 1);
    const random = generator(seed);
    for (let round = 0; round < 20; round++) {
      const most = { requests: 1 + random(6), tokens: 50 + random(400) };
      const limit = new RateLimit({ requestsPerMinute: most.requests, tokensPerMinute: most.tokens });
      const begun: { readonly at: number; readonly tokens: number; readonly asked: number }[] = [];
      const asking = Array.from({ length: 25 }, async (_, asked) => {
        const tokens = 1 + random(60);
        (await limit.take(tokens, never, nobody))(tokens);
        begun.push({ at: performance.now(), tokens, asked });
      });
      while (begun.length < asking.length) await vi.advanceTimersByTimeAsync(1_000);
      expect(begun.map(({ asked }) => asked)).toEqual(begun.map((_, index) => index));
      for (const { at } of begun) {
        const minute = begun.filter((other) => other.at >= at && other.at < at + 60_000);
        const tokens = minute.reduce((sum, other) => sum + other.tokens, 0);
        expect(minute.length, `seed ${seed}, round ${round}`).toBeLessThanOrEqual(most.requests);
        if (minute.length > 1) expect(tokens, `seed ${seed}, round ${round}`).toBeLessThanOrEqual(most.tokens);
      }
    }
  });

  test("L6: the announced delay is the time until the call begins, after all waiting calls", async () => {
    stopTheClock();
    const limit = new RateLimit({ requestsPerMinute: 2 });
    const begun = performance.now();
    const told: number[] = [];
    const calls = [1, 2, 3, 4, 5].map(async () => {
      await limit.take(0, never, (delay) => told.push(Math.round(delay / 1_000)));
      return secondsSince(begun);
    });
    await vi.advanceTimersByTimeAsync(180_000);
    expect(await Promise.all(calls)).toEqual([0, 0, 60, 60, 120]);
    expect(told).toEqual([60, 60, 120]);
  });

  test("L6: a call that gives up makes room for the calls behind it", async () => {
    stopTheClock();
    const limit = new RateLimit({ tokensPerMinute: 100 });
    const begun = performance.now();
    await limit.take(60, never, nobody);
    const leaves = new AbortController();
    const large = limit.take(90, leaves.signal, nobody);
    const small = limit.take(40, never, nobody).then(() => secondsSince(begun));
    leaves.abort(new Error("no longer needed"));
    await expect(large).rejects.toThrow("no longer needed");
    expect(await small).toBe(0);
  });

  test("L6: the provider's count replaces the estimate, in both directions", async () => {
    stopTheClock();
    const limit = new RateLimit({ tokensPerMinute: 100 });
    const begun = performance.now();
    const count = await limit.take(90, never, nobody);
    const told: number[] = [];
    const next = limit.take(50, never, (delay) => told.push(delay)).then(() => secondsSince(begun));
    count(20);
    expect(await next).toBe(0);
    const more = await limit.take(10, never, nobody);
    await vi.advanceTimersByTimeAsync(30_000);
    more(90);
    const last = limit.take(20, never, nobody).then(() => secondsSince(begun));
    await vi.advanceTimersByTimeAsync(60_000);
    // The 80 tokens beyond the estimate count from second 30 on.
    expect(await last).toBe(60);
  });

  test("L6: a call that is larger than the limit begins in an empty minute", async () => {
    stopTheClock();
    const limit = new RateLimit({ tokensPerMinute: 100 });
    const begun = performance.now();
    await limit.take(1, never, nobody);
    const large = limit.take(5_000, never, nobody).then(() => secondsSince(begun));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await large).toBe(60);
  });
});

describe("agents with a rate limit", () => {
  test("L6: retries, sub-agents and other agents count, and the feed shows the wait", async () => {
    const rateLimit = new RateLimit({ requestsPerMinute: 4 });
    const model = scriptedModel([
      [fail("overloaded")],
      [call("launch_agent", { task: "Look it up.", expected_output: "a fact" })],
      [finishTask("It is 42.")],
      "The answer is 42.",
      "never asked",
    ]);
    const agent = new Agent({ model, rateLimit, retry: { delay: 1 }, tools: [launchAgent()] });
    const session = Session.inMemory();
    expect((await agent.send("Look it up.", { session })).text).toBe("The answer is 42.");
    expect([...session.state.messages.values()].some((message) => message.call !== undefined)).toBe(true);
    const other = new Agent({ name: "critic", model, rateLimit });
    const second = Session.inMemory();
    const stopping = new AbortController();
    const items: FeedItem[] = [];
    for await (const item of other.chat(say("Hello"), { session: second, signal: stopping.signal })) {
      items.push(item);
      if (item.type === "model.retrying") stopping.abort();
    }
    expect(model.asked).toBe(4);
    const [wait] = waits(items);
    expect(wait).toMatchObject({
      attempt: 1,
      code: "rate-limit",
      reason: "The rate limit of critic is 4 requests per minute.",
    });
    expect(wait?.delay).toBeGreaterThan(50_000);
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "interrupted" });
    // No response has begun, so a later turn finds no broken message.
    expect([...second.state.messages.values()].map(({ role }) => role)).toEqual(["user"]);
  });

  test("L6: an agent by value counts with its launching agent, unless it has its own limit", async () => {
    const rateLimit = new RateLimit({ requestsPerMinute: 2 });
    const ask = (own?: RateLimit) => {
      const child = new Agent({ name: "child", model: scriptedModel(["Found."]), rateLimit: own });
      const model = scriptedModel([[call("child", { task: "Look." })], "Done."]);
      const tools = [child.asTool({ description: "Looks." })];
      return new Agent({ model, tools, rateLimit, limits: { time: 300, policy: "fail" } });
    };
    await expect(ask().send("Hi")).rejects.toMatchObject({ code: "limit" });
    const other = ask(new RateLimit({ requestsPerMinute: 1 })).with({
      rateLimit: new RateLimit({ requestsPerMinute: 2 }),
    });
    expect((await other.send("Hi")).text).toBe("Done.");
  });

  test("L6: the tokens of a long answer delay the next call", async () => {
    const rateLimit = new RateLimit({ tokensPerMinute: 1_000 });
    const model = scriptedModel(() => [text("Long."), spend({ input: 10, output: 995 })]);
    const agent = new Agent({ model, rateLimit, limits: { time: 300 } });
    await agent.send("Hello");
    const items = await collect(agent.chat(say("More")));
    expect(waits(items)[0]?.reason).toBe("The rate limit of agent is 1,000 tokens per minute.");
    // The time limit of the turn ends the wait.
    expect(items.findLast((item) => item.type === "run.ended")).toMatchObject({ reason: "limit" });
    expect(model.asked).toBe(1);
  });

  test("L6: a limit without room for a sub-agent ends with the interrupt of its parent", async () => {
    const rateLimit = new RateLimit({ requestsPerMinute: 1 });
    const model = scriptedModel([[call("launch_agent", { task: "Look it up.", expected_output: "a fact" })]]);
    const agent = new Agent({ model, rateLimit, tools: [launchAgent()] });
    const session = Session.inMemory();
    const items: FeedItem[] = [];
    for await (const item of agent.chat(say("Hello"), { session })) {
      items.push(item);
      if (item.type === "model.retrying") session.interrupt();
    }
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "interrupted" });
    expect(session.state.runs.size).toBe(0);
  });
});

test("L6: a summary waits for the rate limit, too", async () => {
  const model = scriptedModel(["Because ".padEnd(2_000, "it is warm, "), "Two.", "Three.", "Four.", "never asked"]);
  const agent = new Agent({ model, rateLimit: new RateLimit({ requestsPerMinute: 4 }) });
  const session = Session.inMemory();
  for (const said of ["One?", "Two?", "Three?", "Four?"]) await agent.send(said, { session });
  const reasons: string[] = [];
  const stopping = new AbortController();
  session.listen({
    items: (items) => {
      reasons.push(...waits(items).map(({ reason }) => reason));
      if (reasons.length > 0) stopping.abort();
    },
    ended() {},
  });
  await agent.compact({ session, signal: stopping.signal }).catch(() => {});
  expect(reasons).toEqual(["The rate limit of agent is 4 requests per minute."]);
  expect(model.asked).toBe(4);
});

describe("refusals", () => {
  test.each<[object | undefined, string]>([
    [{}, "A rate limit needs requestsPerMinute, tokensPerMinute or both."],
    [{ requestsPerMinute: 0 }, "requestsPerMinute is 0; it must be a positive whole number."],
    [{ tokensPerMinute: 1.5 }, "tokensPerMinute is 1.5; it must be a positive whole number."],
    [{ requestsPerMinut: 1 }, "requestsPerMinut is no option of a rate limit; did you mean requestsPerMinute?"],
    [undefined, "A rate limit needs requestsPerMinute, tokensPerMinute or both."],
  ])("L6: %j", (options, sentence) => {
    expect(() => new RateLimit(options as never)).toThrow(sentence);
  });

  test("L6: an agent refuses another value", () => {
    const model = scriptedModel([]);
    expect(() => new Agent({ model, rateLimit: { requestsPerMinute: 1 } as never })).toThrow(
      "rateLimit must be a RateLimit: new RateLimit({ requestsPerMinute: 50 }).",
    );
  });
});

describe("a driver that runs whole turns", () => {
  // A stopped clock stops the first load of the loop.
  beforeAll(() => import("../turn/reported-loop.ts"));

  /** A service that takes `steps` responses of 10 tokens each. */
  function loopOf(steps: number): LoopDriver {
    return {
      id: "other/program",
      family: "loop",
      async run(_, sink) {
        for (let step = 1; step <= steps; step++) {
          const response = await sink.begin();
          response.push([{ type: "text", text: `Step ${step}.` }]);
          response.push([{ type: "finish", reason: "stop", usage: { ...noUsage, input: 4, output: 6 } }]);
          await sink.complete();
        }
      },
    };
  }
  const beginnings = (items: readonly FeedItem[]) => items.filter(({ type }) => type === "message.started").length;

  test.each([
    ["requests", { requestsPerMinute: 2 }, 2],
    ["tokens", { tokensPerMinute: 15 }, 2],
  ])("L6: begins no response beyond the %s of the minute, and other agents wait for it", async (_, most, first) => {
    stopTheClock();
    const rateLimit = new RateLimit(most);
    const items: FeedItem[] = [];
    const reading = (async () => {
      for await (const item of new Agent({ model: loopOf(5), rateLimit }).chat(say("Go"))) items.push(item);
    })();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(beginnings(items)).toBe(first);
    expect(waits(items)).toMatchObject([{ code: "rate-limit", attempt: 1 }]);
    const model = scriptedModel(["Hello."]);
    const other = new Agent({ model, rateLimit }).send("Hi");
    expect(model.asked).toBe(0);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(beginnings(items)).toBeGreaterThan(first);
    expect(model.asked).toBe(1);
    await vi.advanceTimersByTimeAsync(180_000);
    await reading;
    expect([beginnings(items), (await other).text]).toEqual([5, "Hello."]);
  });

  test.each(["sub-agent", "hand-off"])("L6: inherits the rate limit of its agent (%s)", async (how) => {
    stopTheClock();
    const rateLimit = new RateLimit({ requestsPerMinute: 2 });
    const writer = new Agent({ name: "writer", description: "Writes.", model: loopOf(2) });
    const [tool, asked] =
      how === "hand-off"
        ? [handOff(writer), call("hand_off_to_writer")]
        : [writer.asTool({ name: "write" }), call("write", { task: "Write." })];
    const agent = new Agent({ model: scriptedModel([[asked], "Done."]), rateLimit, tools: [tool] });
    const items: FeedItem[] = [];
    const reading = (async () => {
      for await (const item of agent.chat(say("Go"))) items.push(item);
    })();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(beginnings(items)).toBe(2);
    await vi.advanceTimersByTimeAsync(121_000);
    await reading;
    expect(items.findLast((item) => item.type === "run.ended")).toMatchObject({ reason: "answered" });
  });

  test("L6: an interrupt ends its wait", async () => {
    const session = Session.inMemory();
    const items: FeedItem[] = [];
    const agent = new Agent({ model: loopOf(2), rateLimit: new RateLimit({ requestsPerMinute: 1 }) });
    for await (const item of agent.chat(say("Go"), { session })) {
      items.push(item);
      if (item.type === "model.retrying") session.interrupt();
    }
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "interrupted" });
    expect(beginnings(items)).toBe(1);
  });
});

/** Returns a function for random whole numbers below a bound. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

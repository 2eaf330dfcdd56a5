import { describe, expect, test, vi } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { cleanUsage, noUsage } from "../conversation/usage.ts";
import { type ModelDriver, ModelError, type ModelErrorCode, type ModelPart, type ModelSink } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { call, collect, cut, fail, scriptedModel, spend, text } from "../testing/index.ts";
import { letPass, stopTheClock } from "./clock.fixture.ts";
import { Patience } from "./patience.ts";

const END: ModelPart = { type: "finish", reason: "stop", usage: noUsage };

/** A driver that does this at each call. */
function driver(stream: (sink: ModelSink, signal: AbortSignal, call: number) => Promise<void>): ModelDriver {
  let asked = 0;
  return { ...scriptedModel([]), stream: (_, sink, signal) => stream(sink, signal, ++asked) };
}

/** Waits for a timer of this many milliseconds, which only the test advances. */
async function rest(milliseconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    setTimeout(resolve, milliseconds);
    letPass(milliseconds);
  });
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** The wait before each further attempt. Only these waits advance the clock. */
function waits(
  errors: (attempt: number) => ModelError,
  settings = {},
  { reached = true, begun = false, fallbacks = [] as readonly string[] } = {},
): number[] {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const patience = new Patience({ retry: settings, fallbacks }, reached);
    const found: number[] = [];
    for (;;) {
      const wait = patience.after(errors(patience.attempt), begun);
      if (wait === undefined || found.length > 1000) return found;
      found.push(wait);
      vi.advanceTimersByTime(wait);
    }
  } finally {
    vi.useRealTimers();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

describe("retries of a model call (F35)", () => {
  test("with growing pauses, for 5 minutes at most", () => {
    const pauses = waits(() => new ModelError("overloaded", "Busy."));
    expect(pauses.length).toBeGreaterThan(6);
    expect(sum(pauses)).toBeGreaterThan(180_000);
    expect(sum(pauses)).toBeLessThanOrEqual(300_000);
    expect(pauses[3]).toBeGreaterThan(4 * (pauses[0] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(60_000);
  });

  test("C9: for one minute while another model can replace the model, unless the time is set", () => {
    const busy = () => new ModelError("overloaded", "Busy.");
    const total = sum(waits(busy, {}, { fallbacks: ["b"] }));
    expect(total).toBeGreaterThan(20_000);
    expect(total).toBeLessThanOrEqual(60_000);
    expect(sum(waits(busy, { time: 200_000 }, { fallbacks: ["b"] }))).toBeGreaterThan(100_000);
  });

  test("the provider's own wait comes first, up to the whole time, and never less than the first pause", () => {
    expect(waits(() => new ModelError("rate-limit", "Slow.", { retryAfter: 100_000 }))).toEqual([
      100_000, 100_000, 100_000,
    ]);
    expect(waits(() => new ModelError("rate-limit", "Slow.", { retryAfter: 300_001 }))).toEqual([]);
    expect(waits(() => new ModelError("rate-limit", "Slow.", { retryAfter: 0 }), { time: 5_000 })).toHaveLength(5);
  });

  test("settings bound the count and the time", () => {
    const busy = () => new ModelError("overloaded", "Busy.");
    expect(waits(busy, { attempts: 3 })).toHaveLength(2);
    expect(sum(waits(busy, { time: 10_000 }))).toBeLessThanOrEqual(10_000);
  });

  test("never where the same request cannot succeed later", () => {
    const codes: ModelErrorCode[] = ["authentication", "quota", "invalid-request", "unknown-model", "context-overflow"];
    for (const code of codes) expect(waits(() => new ModelError(code, "No."))).toEqual([]);
  });

  test("an answer that breaks off after its first word, and costs tokens, is requested four times", () => {
    expect(waits(() => new ModelError("broken-stream", "Cut."), {}, { begun: true })).toHaveLength(3);
  });

  test("an address that never worked is tried four times; a network that disappears, for the whole time", () => {
    const gone = () => new ModelError("unreachable", "Nobody.");
    expect(waits(gone, {}, { reached: false })).toHaveLength(3);
    expect(waits(gone, {}, { reached: true }).length).toBeGreaterThan(6);
    const first = (attempt: number) => (attempt === 1 ? new ModelError("broken-stream", "Cut.") : gone());
    expect(waits(first, {}, { reached: false }).length).toBeGreaterThan(6);
  });

  test("the notice has status, attempt and time, and listeners get each failure", async () => {
    const heard: string[] = [];
    const model = scriptedModel([[fail("rate-limit", { status: 429, retryAfter: 3 })], "ok"]);
    const callbacks = { onModelError: ({ code }: ModelError) => void heard.push(code) };
    const items = await collect(new Agent({ model, retry: { delay: 1 }, callbacks }).chat(say("Hi")));
    const told = items.find(({ type }) => type === "model.retrying") as Extract<FeedItem, { type: "model.retrying" }>;
    expect(told).toMatchObject({ attempt: 2, delay: 3, code: "rate-limit", status: 429 });
    expect(told.nextAt).toBeGreaterThan(Date.now() - 60_000);
    expect(heard).toEqual(["rate-limit"]);
  });

  test("the notice names the fault without a remedy, because the retry is automatic (F14)", async () => {
    const model = driver(async (sink, _, asked) => {
      if (asked === 1) throw new ModelError("stalled", { fact: "It is silent", advice: "try again", words: "no data" });
      sink.push([{ type: "text", text: "Here." }, END]);
    });
    const items = await collect(new Agent({ model, retry: { delay: 1 } }).chat(say("Hi")));
    expect(items).toContainEqual(expect.objectContaining({ type: "model.retrying", reason: "It is silent (no data)" }));
  });
});

describe("signs of life (F26)", () => {
  test("a model that thinks for ten minutes with signs of life is asked once; users get a notice each 20 s", async () => {
    stopTheClock();
    let asked = 0;
    const model = driver(async (sink) => {
      asked++;
      for (let passed = 0; passed < 600_000; passed += 10_000) {
        await rest(10_000);
        sink.push([]);
      }
      sink.push([{ type: "text", text: "42" }, END]);
    });
    const items = await collect(new Agent({ model }).chat(say("Think")));
    expect(asked).toBe(1);
    expect(items.flatMap((item) => (item.type === "text.delta" ? [item.text] : []))).toEqual(["42"]);
    const told = items.filter((item) => item.type === "model.waiting");
    expect(told.length).toBeGreaterThan(20);
    expect(told[1]).toMatchObject({ time: 40_000, alive: true });
  });

  test("a silent connection is broken after the set time", async () => {
    stopTheClock();
    let over = false;
    const goOn = () => {
      if (over) return;
      vi.advanceTimersByTime(10_000);
      setImmediate(goOn);
    };
    const model = driver(async (sink, signal, asked) => {
      if (asked === 1) return aborted(signal);
      over = true;
      sink.push([{ type: "text", text: "Here." }, END]);
    });
    setImmediate(goOn);
    const items = await collect(new Agent({ model, retry: { idle: 300_000, delay: 1 } }).chat(say("Hi")));
    expect(items).toContainEqual(
      expect.objectContaining({ type: "model.retrying", code: "stalled", reason: expect.stringContaining("300 s") }),
    );
    expect(items).toContainEqual(expect.objectContaining({ type: "model.waiting", alive: false }));
    expect(items.filter((item) => item.type === "model.waiting").length).toBeGreaterThan(10);
  });
});

describe("a model without an end (F36)", () => {
  test.each([
    ["an answer", { answer: 1000 }, (): ModelPart[] => [{ type: "text", text: "ab".repeat(50) }]],
    [
      "the arguments of a call",
      { arguments: 1000 },
      (first: boolean): ModelPart[] => [
        ...(first ? [{ type: "call", index: 0, id: "c", tool: "t" } as const] : []),
        { type: "call-input", index: 0, text: "x".repeat(100) },
      ],
    ],
  ])("%s is cut at its bound, its content is kept, and no retry follows", async (_, bounds, piece) => {
    const session = Session.inMemory();
    let asked = 0;
    const model = driver(async (sink) => {
      asked++;
      for (let first = true; ; first = false) sink.push(piece(first));
    });
    const turn = new Agent({ model, bounds }).send("Go", { session });
    await expect(turn).rejects.toMatchObject({
      code: "provider",
      message: expect.stringContaining("1,000 characters"),
    });
    expect(asked).toBe(1);
    const last = [...session.state.messages.values()].at(-1);
    expect(last).toMatchObject({ finish: "error" });
    const kept = last?.role === "assistant" ? `${textOf(last)}${last.calls[0]?.inputText ?? ""}` : "";
    expect(kept).toHaveLength(1000);
  });

  test("arguments that are nested without end are refused in words, and the conversation continues", async () => {
    const session = Session.inMemory();
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const inner = JSON.stringify(deep);
    const model = scriptedModel([[text("Now."), call("look", deep), call("look", inner)], "Sorry."]);
    const turn = await new Agent({ model }).send("Go", { session });
    expect(turn.text).toBe("Sorry.");
    const asked = [...session.state.messages.values()].flatMap((one) => (one.role === "assistant" ? one.calls : []));
    expect(asked.map(({ status }) => status)).toEqual(["failed", "failed"]);
  });
});

test.each([
  [{ input: -5, output: Number.NaN }, noUsage],
  [{ input: "12", output: null, cached: {} }, noUsage],
  [{ input: 1e300, output: Number.POSITIVE_INFINITY }, noUsage],
  [
    { input: 10, cached: 20, cacheWrite: 5, output: 3, reasoning: 9 },
    { input: 10, cached: 10, cacheWrite: 0, output: 3, reasoning: 3 },
  ],
  [
    { input: 1.4, output: 2.5 },
    { ...noUsage, input: 1, output: 3 },
  ],
  [undefined, noUsage],
])("F30: an impossible usage is corrected at its entry: %j", async (reported, counted) => {
  expect(cleanUsage(reported as never)).toEqual(counted);
  const model = driver(async (sink) => void sink.push([{ ...END, usage: reported as never }]));
  expect((await new Agent({ model }).send("Hi")).usage).toEqual(counted);
});

test("F29: any error of a provider is one line of at most 500 characters, and a log can have the rest", async () => {
  const page = `<!doctype html><html><head><title>502 Bad\nGateway</title></head>${"<p>x</p>".repeat(3000)}`;
  const long = `Value: ${'{\n "a": 1 }'.repeat(2000)}\u001b[31m`;
  for (const said of [page, long]) {
    const session = Session.inMemory();
    const model = driver(async () => {
      throw new ModelError("invalid-request", said);
    });
    await new Agent({ model }).send("Hi", { session }).catch((error: Error) => {
      expect(error.message.length).toBeLessThanOrEqual(500);
      expect(error.message).not.toMatch(/\p{Cc}/u);
      expect((error.cause as ModelError).detail).toBe(said);
    });
  }
  const broken = scriptedModel([[text("x"), cut()]]);
  await expect(new Agent({ model: broken, retry: { attempts: 1 } }).send("Hi")).rejects.toThrow(/broke off/);
});

test("F33: a refusal without a reason, of a request that fills the context, counts as too long", async () => {
  const session = Session.inMemory();
  const first = scriptedModel([[spend({ input: 900, output: 10 }), text("Yes.")]]);
  await new Agent({ model: first, compaction: false }).send("a word ".repeat(500), { session });
  const summary = "A summary of all the words that were written here.";
  const refuses = fail("invalid-request", { status: 400 });
  const model = scriptedModel(({ messages }, index) => {
    if (index === 0) return [refuses];
    return /Sum up the conversation/.test(JSON.stringify(messages.at(-1))) ? summary : "Shorter now.";
  });
  const compaction = { contextSize: 1000, threshold: 1, hint: 1 };
  expect((await new Agent({ model, compaction }).send("Well?", { session })).text).toBe("Shorter now.");
  const small = scriptedModel([[refuses], summary, "Shorter now."]);
  await expect(new Agent({ model: small, compaction }).send("Hi")).rejects.toMatchObject({ code: "invalid-request" });
});

import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { shortenConversation } from "../agent/control/shorten-conversation.ts";
import { say } from "../agent/directive.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { pathTo } from "../conversation/tree/path.ts";
import { addUsage, noUsage } from "../conversation/usage.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelRequest, PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect, readUntil } from "../testing/collect.ts";
import { call, fail, type Scene, scriptedModel, spend, stall, text, until } from "../testing/scripted-model.ts";

let looked = 0;
const look = defineTool({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  effects: "none",
  execute: () => String(++looked),
});

const WINDOW = 4_000;
const SUM = "All that counts of the conversation so far is summed up in this text. ".repeat(4).trim();
/** A twentieth of the window. */
const step = (): Scene => [text("x".repeat(800)), call("look")];

/** All words of a message, as a server counts them. */
function wordsOf(message: PromptMessage): string {
  const said = message.parts.map((part) =>
    part.type === "text" ? part.text : part.type === "call" ? JSON.stringify(part.input) : "",
  );
  return [...said, ...(message.role === "assistant" ? message.results.map(({ output }) => output) : [])].join("\n");
}

const allWords = ({ messages }: Pick<ModelRequest, "messages">) => messages.map(wordsOf).join("\n");
const asksForSummary = ({ messages }: ModelRequest) => allWords({ messages: messages.slice(-1) }).startsWith("Sum up");
const fill = (request: ModelRequest) => allWords(request).length / 4 / WINDOW;

/** A gate that a test opens. */
const gate = () => Promise.withResolvers<void>();

interface Played {
  /** Steps of each turn before "Done.". */
  readonly steps: number;
  readonly write?: (summaries: number) => Scene;
  /** Called before each step; may replace it. */
  readonly act?: (request: ModelRequest, steps: number) => Scene | undefined;
  readonly options?: Partial<AgentOptions>;
}

/** An agent with this many steps in each turn, behind a window. */
function play({ steps, write = () => SUM, act, options }: Played) {
  let [left, taken, summaries] = [steps, 0, 0];
  const model = scriptedModel(
    (request): Scene => {
      const input = Math.ceil(allWords(request).length / 4);
      if (input > WINDOW) return [fail("context-overflow")];
      const next = (): Scene => {
        if (left-- > 0) return act?.(request, ++taken) ?? step();
        left = steps;
        return "Done.";
      };
      const scene = asksForSummary(request) ? write(summaries++) : next();
      const beats = typeof scene === "string" ? [text(scene)] : scene;
      return [spend({ input, output: Math.ceil(JSON.stringify(beats).length / 4) }), ...beats];
    },
    { price: { input: 1, output: 1, cached: 1 } },
  );
  const { compaction, ...others } = options ?? {};
  const agent = new Agent({
    model,
    tools: [look],
    compaction: { contextSize: WINDOW, ...(compaction || {}) },
    limits: { steps: 200, repeats: 1_000 },
    ...others,
  });
  const turns = () => model.requests.filter((request) => !asksForSummary(request));
  const asked = () => model.requests.filter(asksForSummary);
  return { model, agent, session: Session.inMemory(), turns, asked };
}

const summariesIn = ({ state }: Session) => [...state.messages.values()].filter(({ role }) => role === "summary");
const summaryTexts = (session: Session) => summariesIn(session).map(textOf);
const hasSummary = (request: ModelRequest | undefined) => request !== undefined && allWords(request).includes(SUM);

/** Counted input tokens that are not in the usage of any message. */
function spentOnSummaries({ state }: Session): number {
  const messages = [...state.messages.values()];
  const told = messages.map((message) => ("usage" in message && message.usage) || noUsage).reduce(addUsage, noUsage);
  return state.usage.input - told.input;
}

describe("F95: a summary in the background", () => {
  test("is made during the turn, from the last request and one message, and used before the next model call", async () => {
    const written = gate();
    let at = 0;
    const { agent, session, turns, asked, model } = play({
      steps: 18,
      write: () => [until(written.promise), text(SUM)],
      act: (_, steps) => {
        if (asked().length === 1 && at === 0) at = steps;
        // The summary is ready two steps later.
        if (at > 0 && steps === at + 2) written.resolve();
        return undefined;
      },
    });
    const items = await collect(agent.chat(say("Begin."), { session }));
    expect(items.at(-1)).toMatchObject({ type: "chat.ended", reason: "answered" });
    const index = model.requests.findIndex(asksForSummary);
    const [before, request] = [model.requests[index - 1], model.requests[index]] as [ModelRequest, ModelRequest];
    expect(request.messages.slice(0, -1)).toEqual(before.messages.slice(0, request.messages.length - 1));
    expect(request).toMatchObject({ instructions: before.instructions, tools: before.tools, toolChoice: "auto" });
    expect(fill(before)).toBeLessThan(0.72);
    const first = turns().findIndex(hasSummary);
    expect(first).toBeGreaterThan(index + 2);
    expect(asked()).toHaveLength(1);
    expect(summaryTexts(session)).toEqual([SUM]);
    expect(fill(turns()[first] as ModelRequest)).toBeLessThan(0.5);
    // No turn had to wait, and the model got no hint.
    expect(items.filter(({ type }) => type === "context.shortening")).toEqual([]);
    expect(allWords(turns().at(-1) as ModelRequest)).not.toContain("shorten_conversation");
    expect(summariesIn(session)[0]).toMatchObject({ compaction: { size: WINDOW } });
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("costs its request, once, in the turn and in the conversation", async () => {
    const { agent, session, asked } = play({ steps: 18 });
    const turn = await agent.send("Begin.", { session });
    expect(asked()).toHaveLength(1);
    const spent = Math.ceil(allWords(asked()[0] as ModelRequest).length / 4);
    expect(spentOnSummaries(session)).toBe(spent);
    expect(turn.usage).toEqual(session.state.usage);
    expect(turn.cost).toBeCloseTo(session.state.cost as number, 10);
  });

  test("is made at most once for 30 % of the room that was read", async () => {
    const { agent, session, asked, turns } = play({ steps: 120 });
    await agent.send("Begin.", { session });
    expect(turns().length).toBeGreaterThan(60);
    expect(summariesIn(session).length).toBeGreaterThan(5);
    expect(summariesIn(session).length).toBeLessThanOrEqual((121 * 0.05) / 0.3 + 1);
    expect(Math.max(...turns().map(fill))).toBeLessThan(0.8);
    expect(asked().length).toBeGreaterThan(0);
  });

  test("is waited for only when the context is full; text that a user types meanwhile is in the next request", async () => {
    const written = gate();
    const { agent, session, turns, asked } = play({ steps: 20, write: () => [until(written.promise), text(SUM)] });
    const chat = agent.chat(say("Begin."), { session })[Symbol.asyncIterator]();
    const items: FeedItem[] = [];
    await readUntil(chat, (item) => items.push(item) > 0 && item.type === "context.shortening");
    const full = turns().at(-1) as ModelRequest;
    expect(fill(full)).toBeGreaterThan(0.82);
    const [run] = session.state.runs.keys();
    await session.say("Stop that.", { run: run as string });
    written.resolve();
    await readUntil(chat, (item) => item.type === "message.started");
    await expect.poll(() => turns().at(-1)).not.toBe(full);
    const next = turns().at(-1) as ModelRequest;
    expect(allWords(next)).toMatch(/Stop that\.$/);
    expect(hasSummary(next)).toBe(true);
    await readUntil(chat, ({ type }) => type === "chat.ended");
    expect(asked()).toHaveLength(1);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("lets the next request contain text that a user types during the summary", async () => {
    const typed = gate();
    const { agent, session, turns, asked } = play({
      steps: 16,
      write: () => [stall()],
      act: () => (asked().length > 0 ? [until(typed.promise), ...(step() as readonly [])] : undefined),
    });
    const turn = agent.send("Begin.", { session });
    await expect.poll(() => asked().length).toBe(1);
    const [run] = session.state.runs.keys();
    await session.say("Stop that.", { run: run as string });
    const before = turns().length;
    typed.resolve();
    await expect.poll(() => turns().length).toBeGreaterThan(before);
    expect(allWords(turns()[before] as ModelRequest)).toMatch(/Stop that\.$/);
    session.interrupt();
    await turn;
  });

  test("of a chat continues after the turn, and the next turn begins with it", async () => {
    const written = gate();
    const { agent, session, turns, asked } = play({ steps: 14, write: () => [until(written.promise), text(SUM)] });
    await agent.send("Begin.", { session });
    await expect.poll(() => asked().length).toBe(1);
    written.resolve();
    await expect.poll(() => spentOnSummaries(session)).toBeGreaterThan(0);
    await agent.send("Go on.", { session });
    expect(hasSummary(turns()[15])).toBe(true);
    expect(summaryTexts(session)[0]).toBe(SUM);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test.each<[string, Partial<AgentOptions>]>([
    ["a turn without a user", { unattended: true }],
    ["a task", { mode: "task" }],
  ])("ends with %s, and its tokens count", async (_, options) => {
    const { agent, session, asked } = play({
      steps: 14,
      write: () => [text("Half of"), stall()],
      options,
      act: (_request, steps) => (steps === 14 && options.mode ? [call("finish_task", { result: "Done." })] : undefined),
    });
    const turn = await agent.send("Begin.", { session });
    expect(asked()).toHaveLength(1);
    const { tools, messages } = asked()[0] as ModelRequest;
    const spent = (JSON.stringify(tools).length + allWords({ messages }).length) / 4;
    const counted = spentOnSummaries(session);
    expect(counted / spent).toBeGreaterThan(0.8);
    expect(counted / spent).toBeLessThan(1.2);
    expect(turn.usage).toEqual(session.state.usage);
    expect(summariesIn(session)).toEqual([]);
  });

  test("ends with an interrupt and with the session, and its tokens count", async () => {
    for (const stop of ["interrupt", "close"] as const) {
      const { agent, session, asked } = play({
        steps: 20,
        write: () => [stall()],
        act: () => (asked().length > 0 ? [stall()] : undefined),
      });
      const turn = agent.send("Begin.", { session });
      await expect.poll(() => asked().length).toBe(1);
      if (stop === "interrupt") session.interrupt();
      else await session.close();
      await turn.catch(() => {});
      expect(spentOnSummaries(session)).toBeGreaterThan(WINDOW / 3);
      expect(summariesIn(session)).toEqual([]);
      expect(checkConversation(session.state)).toEqual([]);
    }
  });

  test("makes a session that closes after the turn wait for the token count", async () => {
    const { agent, session, asked } = play({ steps: 14, write: () => [stall()] });
    await agent.send("Begin.", { session });
    await expect.poll(() => asked().length).toBe(1);
    expect(spentOnSummaries(session)).toBe(0);
    await session.close();
    expect(spentOnSummaries(session)).toBeGreaterThan(WINDOW / 3);
  });

  /** A chat whose turn ended before its summary, and the actions of a test meanwhile. */
  async function meanwhile(act: (chat: ReturnType<typeof play>) => Promise<unknown>) {
    const written = gate();
    const chat = play({
      steps: 14,
      write: (index) =>
        index > 0
          ? "The work continues with other words, which nobody has said before now."
          : [until(written.promise), text(SUM)],
    });
    await chat.agent.send("Begin.", { session: chat.session });
    await expect.poll(() => chat.asked().length).toBe(1);
    await act(chat);
    written.resolve();
    await expect.poll(() => spentOnSummaries(chat.session)).toBeGreaterThan(0);
    return chat;
  }

  const pathOf = ({ state }: Session) => pathTo(state, state.leaf);

  test.each<[string, (chat: ReturnType<typeof play>) => Promise<unknown>]>([
    ["rewound", async () => {}],
    ["compacted by a user", ({ agent, session }) => agent.compact({ session, keep: "names" })],
    ["cut by a removed message", ({ session }) => session.notes.remove(pathOf(session)[4]?.id as string)],
  ])("is dropped if the branch was %s during the summary, and its tokens count", async (how, act) => {
    const { agent, session, turns } = await meanwhile(act);
    const at = how === "compacted by a user" ? undefined : pathOf(session)[2]?.id;
    const before = turns().length;
    await agent.send("Something else.", { session, ...(at && { at }) });
    expect(turns().length).toBeGreaterThan(before);
    expect(turns().slice(before).some(hasSummary)).toBe(false);
    expect(summaryTexts(session)).not.toContain(SUM);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("is used once on a branch that forks after it, with the words of that branch", async () => {
    const { agent, session, turns } = await meanwhile(async () => {});
    const before = turns().length;
    const at = pathOf(session).at(-2)?.id;
    await agent.send("In another way.", { session, at });
    expect(hasSummary(turns()[before])).toBe(true);
    expect(allWords(turns()[before] as ModelRequest)).toContain("In another way.");
    expect(summaryTexts(session).filter((text) => text === SUM)).toHaveLength(1);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("is not lost while another branch has a turn", async () => {
    const { agent, session, turns } = await meanwhile(async () => {});
    const { leaf } = session.state;
    await agent.send("Something else.", { session, at: pathOf(session)[2]?.id });
    const before = turns().length;
    await agent.send("Go on.", { session, at: leaf as string });
    expect(hasSummary(turns()[before])).toBe(true);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("is cancelled when the model calls shorten_conversation itself", async () => {
    const { agent, session, asked } = play({
      steps: 18,
      write: () => [stall()],
      options: { tools: [look, shortenConversation()] },
      act: () =>
        asked().length > 0 && summariesIn(session).length === 0
          ? [call("shorten_conversation", { summary: "Mine." })]
          : undefined,
    });
    await agent.send("Begin.", { session });
    expect(summaryTexts(session)).toEqual(["Mine."]);
    expect(spentOnSummaries(session)).toBeGreaterThan(WINDOW / 3);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("that fails is not reported; the context's own summary is requested once more, and a model replaces the failed model", async () => {
    const other = play({ steps: 0, write: () => `${SUM} By b.` });
    const { agent, session, asked } = play({
      steps: 20,
      write: () => [fail("quota", { message: "No money." })],
      options: { modelNamed: async () => ({ ...other.model, id: "b" }), fallbacks: ["b"], retry: { delay: 1 } },
    });
    const items = await collect(agent.chat(say("Begin."), { session }));
    expect(asked()).toHaveLength(2);
    expect(items.filter(({ type }) => type === "model.replaced")).toHaveLength(1);
    expect(items.filter(({ type }) => type === "context.not-shortened")).toEqual([]);
    expect(summaryTexts(session)).toEqual([`${SUM} By b.`]);
  });

  test("is retried without a word to the user", async () => {
    const { agent, session, asked } = play({
      steps: 18,
      write: (index) => (index === 0 ? [fail("overloaded")] : SUM),
      options: { retry: { delay: 1 } },
    });
    const items = await collect(agent.chat(say("Begin."), { session }));
    expect(asked()).toHaveLength(2);
    expect(items.filter(({ type }) => type === "model.retrying")).toEqual([]);
    expect(summaryTexts(session)).toEqual([SUM]);
  });

  test("two branches at once have one each", async () => {
    const { agent, session, asked, turns } = play({ steps: 0 });
    const begun = await agent.send("Begin.", { session });
    const at = begun.message?.id as string;
    const long = async (word: string) => {
      for (let i = 0; i < 9; i++) {
        const leaf = leaves.get(word) ?? at;
        const turn = await agent.send(`${word} ${i} ${"y".repeat(1_600)}`, { session, at: leaf });
        leaves.set(word, turn.message?.id as string);
      }
    };
    const leaves = new Map<string, string>();
    await Promise.all([long("fig"), long("plum")]);
    expect(asked().length).toBeGreaterThanOrEqual(2);
    for (const request of asked()) {
      const words = allWords(request);
      expect([words.includes("fig 0"), words.includes("plum 0")].filter(Boolean)).toHaveLength(1);
    }
    const used = turns().filter(hasSummary);
    expect(used.some((request) => allWords(request).includes("fig 8"))).toBe(true);
    expect(used.some((request) => allWords(request).includes("plum 8"))).toBe(true);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("a sub-agent has one of its own, which ends with it", async () => {
    let child = 0;
    const { agent, session, asked } = play({
      steps: 200,
      write: () => [stall()],
      options: { tools: [look, launchAgent()] },
      act: (request) => {
        if (!allWords(request).includes("Look around."))
          return [call("launch_agent", { task: "Look around.", expected_output: "a sight" })];
        if (child === -1) return undefined;
        if (!allWords({ messages: request.messages.slice(0, 1) }).includes("Look around.")) {
          child = -1;
          return [text("Over."), { type: "end", reason: "stop" }];
        }
        return ++child < 16 ? undefined : [call("finish_task", { result: "Seen." })];
      },
    });
    const turn = await agent.send("Begin.", { session });
    expect(turn.text).toBe("Over.");
    expect(asked()).toHaveLength(1);
    expect(spentOnSummaries(session)).toBeGreaterThan(WINDOW / 3);
    expect(turn.usage).toEqual(session.state.usage);
  });

  test("asks its hook without keeping the turn waiting, and follows the words of the hook", async () => {
    const answered = gate();
    const { agent, session, turns, asked } = play({
      steps: 18,
      act: (_, steps) => {
        if (steps === 16) answered.resolve();
        return undefined;
      },
      options: {
        hooks: {
          beforeSummary: async ({ trigger }) => {
            expect(trigger).toBe("auto");
            await answered.promise;
            return { instructions: "Keep the figs." };
          },
        },
      },
    });
    await agent.send("Begin.", { session });
    expect(asked()).toHaveLength(1);
    expect(allWords(asked()[0] as ModelRequest)).toContain("Keep the figs.");
    expect(turns().findIndex(hasSummary)).toBeGreaterThan(15);
  });

  test("is not begun where old results alone free enough", async () => {
    const { agent, session, asked } = play({
      steps: 12,
      act: () => [call("look")],
      options: { tools: [{ ...look, execute: () => String(++looked).padStart(1_200, "x") }] },
    });
    await agent.send("Begin.", { session });
    expect(asked()).toEqual([]);
    expect(summaryTexts(session)).toEqual([expect.stringContaining("old results of calls for the model")]);
  });

  test.each<[string, { background?: boolean; oneAtATime?: true }, boolean]>([
    ["none by default for a server that answers one request at a time", { oneAtATime: true }, false],
    ["one for such a server if the user wants it", { oneAtATime: true, background: true }, true],
    ["none if the user wants none", { background: false }, false],
  ])("there is %s; the model gets a hint then", async (_, { background, oneAtATime }, isMade) => {
    const { agent, model, session, asked, turns } = play({
      steps: 14,
      options: { tools: [look, shortenConversation()], compaction: { background } },
    });
    await agent.with({ model: { ...model, ...(oneAtATime && { oneAtATime }) } }).send("Begin.", { session });
    expect(asked()).toHaveLength(isMade ? 1 : 0);
    expect(turns().some((request) => allWords(request).includes("Call shorten_conversation"))).toBe(!isMade);
  });

  test.each([16_000, 24_000, 30_000, 36_000])("a turn keeps its limit of %i tokens", async (tokens) => {
    const { agent, session } = play({ steps: 40, options: { limits: { tokens, repeats: 1_000 } } });
    const turn = await agent.send("Begin.", { session });
    expect(turn.reason).toBe("limit");
    // The reserve is the most expensive step so far, but each step costs more than the last.
    expect(turn.usage.input + turn.usage.output).toBeLessThanOrEqual(tokens + WINDOW / 5);
    expect(turn.usage.input).toBeGreaterThan(tokens * 0.6);
  });
});

import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { say } from "../agent/directive.ts";
import type { FeedItem } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { windowOf } from "../model/context-window.ts";
import { defineTool } from "../ports/define-tool.ts";
import { ModelError, type ModelRequest, type PromptMessage } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { checkConversation } from "../testing/check-conversation.ts";
import { collect } from "../testing/collect.ts";
import { type Beat, call, finishTask, scriptedModel, text, until } from "../testing/scripted-model.ts";
import { launch, resultsIn } from "../turn/launch.fixture.ts";
import { allText, isSummaryRequest, type LimitedOptions, limitedModel } from "./limited-model.fixture.ts";

let acted = 0;
/** Answers with `size` characters that never repeat (C10). */
const look = (size: number) =>
  defineTool({
    name: "look",
    description: "Looks.",
    input: { type: "object" },
    effects: "none",
    execute: () => `${++acted} `.padEnd(size, "lorem ipsum "),
  });

/** A model behind a window that calls `look` `looks` times and then ends. */
function worker(looks: number, options: LimitedOptions, summary: string | readonly Beat[] = "What matters.") {
  let looked = 0;
  return limitedModel(
    (request) => (isSummaryRequest(request) ? summary : looked++ < looks ? [call("look")] : "Done."),
    options,
  );
}

function agentOf(model: AgentOptions["model"], size: number, options: Partial<AgentOptions> = {}) {
  return new Agent({ model, tools: [look(size)], limits: { steps: 300 }, ...options });
}

const resultsOf = (message: PromptMessage) => ("results" in message ? message.results.map(({ output }) => output) : []);

const notices = (items: readonly FeedItem[]) =>
  items.flatMap((item) => (item.type === "request.changed" ? [item.reason] : []));

describe("F89: every overflow is repaired", () => {
  test.each([
    ["a number", undefined],
    ["no number", (): string => "Your input exceeds the context window of this model."],
    ["a number that is too small", (): string => "The maximum context length is 512."],
    ["a number that is too large", (): string => "The maximum context length is 9000000."],
  ])("in a turn of many steps, with an unknown window, where the refusal has %s", async (_, words) => {
    const model = worker(60, { window: 4_000, words });
    const session = Session.inMemory();
    const turn = await agentOf(model, 2_000).send("Look around.", { session });
    expect(turn).toMatchObject({ reason: "answered", text: "Done." });
    expect(turn.steps).toBeGreaterThan(60);
    expect(model.repeated).toEqual([]);
    // A bound from a refusal is slightly above the window; each further refusal lowers it.
    expect(model.refused.length).toBeLessThanOrEqual(2);
    expect(checkConversation(session.state)).toEqual([]);
  });

  test("several in one turn, from a server whose window shrinks", async () => {
    let taken = 0;
    const windows = [9_000, 6_000, 3_000];
    const window = () => windows[Math.min(2, Math.floor(taken++ / 30))] ?? 0;
    const model = worker(90, { window });
    const agent = agentOf(model, 2_000, { compaction: { contextSize: 100_000 } });
    expect(await agent.send("Look around.")).toMatchObject({ reason: "answered", text: "Done." });
    expect(model.refused).toHaveLength(3);
    expect(model.repeated).toEqual([]);
  });

  test("the window is known to later turns and other conversations of the process, and to no other model", async () => {
    const facts = { address: "https://learnt.example.com/v1" };
    const first = worker(20, { window: 3_000, facts });
    await agentOf(first, 2_000).send("Look around.");
    expect(first.refused).toHaveLength(1);
    expect(windowOf(first)).toBe(3_000);
    const second = worker(20, { window: 3_000, facts });
    await agentOf(second, 2_000).send("Look around.");
    expect(second.refused).toEqual([]);
    expect(windowOf(worker(1, { window: 3_000, facts, id: "scripted/other" }))).toBeUndefined();
  });

  test("a window that is too large in the settings is corrected by the refusal", async () => {
    const model = worker(40, { window: 3_000 });
    const turn = await agentOf(model, 2_000, { compaction: { contextSize: 200_000 } }).send("Look around.");
    expect(turn).toMatchObject({ reason: "answered", text: "Done." });
    expect(model.refused).toHaveLength(1);
  });

  test("a result that is too large is cut once, wherever its tokens are", async () => {
    // Each digit is a token, and the ends of the result are digits.
    const count = (words: string) => (words.match(/\d/g)?.length ?? 0) + words.replaceAll(/\d/g, "").length / 4;
    const list = defineTool({
      name: "list",
      description: "Lists.",
      input: { type: "object" },
      effects: "none",
      execute: () => `${"7".repeat(2_000)}${"lorem ".repeat(4_000)}${"7".repeat(2_000)}`,
    });
    const scenes = [[call("list")], "Done."];
    const model = scriptedModel((_, index) => scenes[index] ?? "Done.");
    const agent = new Agent({ model, tools: [list], compaction: { contextSize: 4_000, count } });
    const session = Session.inMemory();
    expect((await agent.send("List all.", { session })).text).toBe("Done.");
    const cuts = [...session.state.messages.values()].filter(({ role }) => role === "summary").map(textOf);
    expect(cuts).toEqual(["The result of one call was shortened to fit the model's context."]);
    const [result = ""] = model.requests.at(-1)?.messages.flatMap((each) => resultsOf(each)) ?? [];
    expect(count(result)).toBeGreaterThan(600);
    expect(count(result)).toBeLessThanOrEqual(1_200);
  });

  test("in a sub-agent, and in a task", async () => {
    let looked = 0;
    const model = limitedModel(
      (request): string | Beat[] => {
        if (isSummaryRequest(request)) return "The task is to look around.";
        if (allText(request).includes("Delegate.")) return looked === 0 ? [launch("Look around.")] : "Delegated.";
        if (looked++ < 30) return [call("look")];
        return [finishTask("looked")];
      },
      { window: 4_000 },
    );
    const session = Session.inMemory();
    const agent = agentOf(model, 2_000, { tools: [look(2_000), launchAgent()] });
    expect(await agent.send("Delegate.", { session })).toMatchObject({ reason: "answered", text: "Delegated." });
    expect(resultsIn(session)).toEqual(["looked"]);
    expect(looked).toBe(31);
    looked = 0;
    expect(await agent.with({ mode: "task" }).send("Look around.")).toMatchObject({ reason: "finished" });
    expect(model.repeated).toEqual([]);
  });

  test("the same refusal with nothing left to cut ends the turn, and the conversation stays usable", async () => {
    let isDown = true;
    const model = worker(0, { window: 100_000, refuses: () => isDown });
    const session = Session.inMemory();
    const agent = agentOf(model, 10);
    await expect(agent.send("Hi.", { session })).rejects.toMatchObject({ code: "context-overflow" });
    expect(model.refused.length).toBeLessThanOrEqual(2);
    isDown = false;
    expect(await agent.send("Hi again.", { session })).toMatchObject({ text: "Done." });
  });

  test("any other refusal is reported unchanged", async () => {
    const model = worker(0, { window: 100_000, refuses: () => true, words: () => "x" });
    const { stream } = model;
    const other = { ...model, stream: (...asked: Parameters<typeof stream>) => stream(...asked).catch(asInvalid) };
    await expect(agentOf(other, 10).send("Hi.")).rejects.toMatchObject({ code: "invalid-request" });
    expect(model.refused).toHaveLength(1);
  });

  test("without compaction a request that is too long ends the turn at once", async () => {
    const model = worker(30, { window: 2_000 });
    const sent = agentOf(model, 2_000, { compaction: false }).send("Look around.");
    await expect(sent).rejects.toMatchObject({ code: "context-overflow" });
    expect(model.refused).toHaveLength(1);
  });
});

const asInvalid = () => Promise.reject(new ModelError("invalid-request", "No.", { status: 400 }));

describe("F97: counts that are wrong", () => {
  test.each([
    ["1", () => 1],
    ["a third", (tokens: number) => Math.ceil(tokens / 3)],
    ["half", (tokens: number) => Math.ceil(tokens / 2)],
    ["double", (tokens: number) => tokens * 2],
    ["four times", (tokens: number) => tokens * 4],
  ] as const)("a provider that counts %s lets no request grow beyond the window", async (_, counts) => {
    const model = worker(40, { window: 10_000, counts });
    const session = Session.inMemory();
    const agent = agentOf(model, 2_000, { compaction: { contextSize: 10_000 } });
    const items = await collect(agent.chat(say("Look around."), { session }));
    expect(items.findLast(({ type }) => type === "run.ended")).toMatchObject({ reason: "answered" });
    const right = counts(1_000);
    expect(model.refused.length).toBeLessThanOrEqual(right === 500 ? 1 : 0);
    const warned = notices(items).filter((reason) => reason.includes("more than a factor of two"));
    expect(warned).toHaveLength(right === 500 || right === 2_000 ? warned.length : 1);
    expect(warned.length).toBeLessThanOrEqual(1);
  });

  test("a provider that reads only the end of each prompt is noticed, with advice", async () => {
    const model = worker(40, { window: 100_000, counts: (tokens) => Math.min(tokens, 2_048) });
    const agent = agentOf(model, 2_000, { compaction: { contextSize: 10_000 } });
    const items = await collect(agent.chat(say("Look around."), { session: Session.inMemory() }));
    expect(notices(items)).toEqual([
      expect.stringMatching(/reads only a part of each request\. Check the context size in the server's settings/),
    ]);
  });

  test("a right count gives no warning, and no own count takes its place", async () => {
    const model = worker(40, { window: 10_000 });
    const agent = agentOf(model, 2_000, { compaction: { contextSize: 10_000 } });
    const items = await collect(agent.chat(say("Look around."), { session: Session.inMemory() }));
    expect(notices(items)).toEqual([]);
    expect(model.refused).toEqual([]);
  });
});

describe("F94: text that a user types during a summary", () => {
  test("is in the next request, before a call of that step runs", async () => {
    const session = Session.inMemory();
    const begun = Promise.withResolvers<void>();
    const typed = Promise.withResolvers<void>();
    let calls = 0;
    const model = limitedModel(
      (request) => {
        if (isSummaryRequest(request)) {
          begun.resolve();
          return [until(typed.promise), text("What matters.")];
        }
        if (allText(request).includes("Stop.")) return "Stopped.";
        calls++;
        return [call("look")];
      },
      { window: 4_000 },
    );
    const agent = agentOf(model, 2_000, { compaction: { contextSize: 4_000 } });
    const chat = agent.chat(say("Look around."), { session });
    const items = collect(chat);
    await begun.promise;
    const before = calls;
    await session.say("Stop.", { delivery: "steer" });
    typed.resolve();
    expect((await items).findLast(({ type }) => type === "run.ended")).toMatchObject({ reason: "answered" });
    expect(calls).toBe(before);
    expect(acted).toBeGreaterThan(0);
  });
});

describe("F89: a change of model inside a conversation", () => {
  test("from 123,000 tokens to a model with 32,000 is repaired, and no request exceeds the window", async () => {
    const session = Session.inMemory();
    const large = worker(60, { window: 200_000 });
    const agent = agentOf(large, 8_000, { compaction: { contextSize: 200_000 } });
    await agent.send("Look around.", { session });
    expect(Math.max(...large.taken)).toBeGreaterThan(115_000);
    const small = worker(5, { window: 32_000 });
    const turn = await agent.with({ model: small, compaction: {} }).send("Go on.", { session });
    expect(turn).toMatchObject({ reason: "answered", text: "Done." });
    expect(allText(small.requests.at(-1) as ModelRequest)).toContain("Go on.");
    expect(small.repeated).toEqual([]);
    expect(checkConversation(session.state)).toEqual([]);
  });
});

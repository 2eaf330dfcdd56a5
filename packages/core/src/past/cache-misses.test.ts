import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Agent } from "../agent/agent.ts";
import { launchAgent } from "../agent/control/launch-agent.ts";
import { retry, say } from "../agent/directive.ts";
import type { CacheMiss } from "../conversation/usage.ts";
import { defineTool } from "../ports/define-tool.ts";
import type { ModelDriver, ModelRequest } from "../ports/model.ts";
import { Session } from "../session/session.ts";
import { call, finishTask, type Scene, scriptedModel, spend, text } from "../testing/scripted-model.ts";

const LONG = "Trees grow slowly, and banyans put down roots from their branches. ".repeat(200);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A provider with a prompt cache: counts a token for each 4 characters, and those that an earlier request had. */
function provider() {
  const sent: string[] = [];
  return (id: string, scenes: readonly Scene[] = []): ModelDriver => {
    let dropped = false;
    const model = scriptedModel((request: ModelRequest, index) => {
      const whole = id + JSON.stringify([request.settings, request.tools, request.instructions, request.messages]);
      const shared = dropped ? 0 : Math.max(0, ...sent.map((one) => sharedLength(one, whole)));
      dropped = JSON.stringify(request.messages.at(-1)).includes("drop the cache");
      sent.push(whole);
      const [input, cached] = [whole, whole.slice(0, shared)].map(({ length }) => Math.floor(length / 4));
      return [...((scenes[index] as Exclude<Scene, string>) ?? [text("ok")]), spend({ input, cached, output: 1 })];
    });
    return { ...model, id };
  };
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

function missesIn({ state }: Session): (CacheMiss["cause"] | undefined)[] {
  return [...state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? [message.cacheMiss?.cause] : [],
  );
}

const look = (description: string) =>
  defineTool({ name: "look", description, input: { type: "object" }, effects: "none", execute: () => LONG });

async function converse(agents: readonly Agent[], session = Session.inMemory()): Promise<Session> {
  for (const agent of agents) await agent.send(LONG, { session });
  return session;
}

test("V5: requests that only grow have no cache miss, also with calls, branches and a retry", async () => {
  const model = provider()("p/a", [[text("ok")], [text("ok")], [call("look")], [text("ok")]]);
  const agent = new Agent({ model, tools: [look("Looks.")] });
  const session = await converse([agent, agent, agent]);
  const [first = ""] = [...session.state.messages.keys()];
  for await (const _ of agent.chat(retry(), { session }));
  for await (const _ of agent.chat(say("Another question"), { session, at: first }));
  expect(missesIn(session)).toEqual(Array(6).fill(undefined));
});

test("V5: a change of the model, the tools, the instructions or the settings is the cause of one miss", async () => {
  const open = provider();
  const first = new Agent({ model: open("p/a"), tools: [look("Looks.")], instructions: "Be brief." });
  const changed = [
    first.with({ instructions: "Be long." }),
    first.with({ tools: [look("Looks well.")] }),
    first.with({ settings: { temperature: 1 } }),
    first.with({ model: open("p/b") }),
  ];
  for (const [index, cause] of (["instructions", "tools", "settings", "model"] as const).entries()) {
    const session = await converse([first, first, changed[index] as Agent, changed[index] as Agent]);
    expect(missesIn(session)).toEqual([undefined, undefined, cause, undefined]);
  }
});

test("V5: a long pause and a cache that the provider dropped are different causes", async () => {
  const agent = new Agent({ model: provider()("p/a") });
  const session = await converse([agent, agent]);
  await agent.send("Please drop the cache.", { session });
  await agent.send("Go on.", { session });
  await agent.send("Please drop the cache.", { session });
  vi.setSystemTime(6 * 60_000);
  await agent.send("Go on.", { session });
  expect(missesIn(session)).toEqual([undefined, undefined, undefined, "provider", undefined, "pause"]);
  const [miss] = [...session.state.messages.values()].flatMap((message) =>
    message.role === "assistant" ? (message.cacheMiss ?? []) : [],
  );
  expect(miss?.tokens).toBeGreaterThan(2 * (LONG.length / 4));
});

test("V5: a compaction is the cause of a miss, in an opened conversation too", async () => {
  const agent = new Agent({ model: provider()("p/a") });
  const session = await converse([agent, agent, agent]);
  await agent.compact({ session });
  await agent.send(LONG, { session });
  expect(missesIn(session).at(-1)).toBe("compaction");
});

test("V5: a provider without cache reports has no misses, and a provider that reports writes has a first request", async () => {
  const plain = scriptedModel(() => [text("ok"), spend({ input: 9_000 })]);
  expect(missesIn(await converse([new Agent({ model: plain }), new Agent({ model: plain })]))).toEqual([
    undefined,
    undefined,
  ]);
  const writing = scriptedModel((_, index) => [
    text("ok"),
    spend({ input: 9_000, cached: index * 4_500, cacheWrite: 4_500 }),
  ]);
  const session = await converse([new Agent({ model: writing }), new Agent({ model: writing })]);
  expect(missesIn(session)).toEqual(["first-request", "provider"]);
});

test("V5: the first request of a sub-agent is a first request", async () => {
  const task = { task: LONG, expected_output: "A word." };
  const open = provider();
  const model = open("p/a", [
    [text("ok")],
    [text("ok")],
    [call("launch_agent", task)],
    [finishTask("done")],
    [text("ok")],
  ]);
  const agent = new Agent({ model, tools: [launchAgent()] });
  const session = await converse([agent, agent, agent]);
  expect(missesIn(session)).toEqual([undefined, undefined, undefined, "first-request", undefined]);
});

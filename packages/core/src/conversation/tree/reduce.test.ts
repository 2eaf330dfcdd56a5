import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { retry, say } from "../../agent/directive.ts";
import { defineTool } from "../../ports/define-tool.ts";
import { Session } from "../../session/session.ts";
import { call, collect, reasoning, scriptedModel, text } from "../../testing/index.ts";
import type { Event, EventBody } from "../event.ts";
import { type FeedItem, isEvent } from "../feed-item.ts";
import { isSettled } from "../message.ts";
import { type ConversationState, emptyConversation } from "../state.ts";
import { noUsage } from "../usage.ts";
import { forgetBefore } from "./forget.ts";
import { leaves, newestLeaf, pathTo, siblings, usageOnPath } from "./path.ts";
import { reduce } from "./reduce.ts";

const look = defineTool({
  name: "look",
  description: "",
  input: { type: "object" },
  effects: "none",
  execute: (_, { progress }) => {
    progress("looking");
    return "seen";
  },
});

/** A conversation with reasoning, calls, a retried answer and a second branch, as feed items. */
async function conversation(): Promise<{ items: FeedItem[]; state: ConversationState }> {
  const session = Session.inMemory();
  const items: FeedItem[] = [];
  const watching = (async () => {
    for await (const item of session.feed()) items.push(item);
  })();
  const model = scriptedModel([
    [reasoning("Hm."), text("Look", "ing."), call("look"), call("look")],
    "Done.",
    "Other.",
    "New.",
  ]);
  const agent = new Agent({ model, tools: [look] });
  await collect(agent.chat(say("Hi"), { session }));
  await collect(agent.chat(retry(), { session }));
  await collect(agent.chat(retry("Hello"), { session }));
  const state = structuredClone(session.state);
  await session.close();
  await watching;
  return { items, state };
}

function replay(items: readonly FeedItem[]): ConversationState {
  const state = emptyConversation();
  for (const item of items) reduce(state, item);
  return state;
}

/** The source of the fragments. */
const source = { run: "r", agent: "agent", depth: 0 } as const;

describe("reduce", () => {
  test("invariant 3: events alone, and events with deltas, give the state of the session", async () => {
    const { items, state } = await conversation();
    expect(replay(items)).toEqual(state);
    expect(replay(items.filter(isEvent))).toEqual(state);
  });

  test("it is total: it skips unknown and malformed events, and gives the reason", async () => {
    const { items, state } = await conversation();
    const { epoch } = state;
    const foreign = [
      { type: "wonder.happened" },
      { type: "call.completed", message: "nowhere", call: "c", output: "" },
      { type: "message.completed", message: [...state.messages.keys()][1] },
    ];
    foreign.forEach((body, index) => {
      const event = { ...body, seq: state.seq + 1 + index, epoch, at: 1 } as unknown as Event;
      expect(reduce(state, event).skipped).toMatch(/wonder\.happened|names no call|cannot be read/);
    });
    expect(state.messages).toEqual(replay(items).messages);
  });

  test("it applies a repeated event once", async () => {
    const { items, state } = await conversation();
    const events = items.filter(isEvent);
    expect(replay([...events, ...events])).toEqual(state);
  });

  test("invariant 1: a call keeps its result, whatever comes later", async () => {
    const { items, state } = await conversation();
    const ended = items.filter((item) => item.type === "call.completed");
    expect(ended).toHaveLength(2);
    const { messages } = structuredClone(state);
    for (const event of ended) {
      const seq = state.seq + 1;
      const change = reduce(state, { ...(event as Event), seq, type: "call.failed", output: "late" } as Event);
      expect(change.skipped).toMatch(/has its result/);
    }
    expect(state.messages).toEqual(messages);
  });

  test("a complete answer keeps the streamed calls that it names", () => {
    const at = (seq: number) => ({ seq, epoch: 1, at: 1 });
    const streamed = (id: string) =>
      ({
        type: "call.input.delta",
        message: "a",
        call: id,
        tool: "look",
        part: 0,
        text: "{",
        offset: 1,
        ...source,
      }) as const;
    const state = replay([
      { type: "message.started", message: "a", parentId: null, run: "r", model: "m", ...at(1) },
      { ...streamed("dropped"), seq: 1, epoch: 1 },
      { ...streamed("named"), seq: 1, epoch: 1 },
      {
        type: "message.completed",
        message: "a",
        parts: [{ type: "call", call: "named" }],
        finish: "calls",
        usage: noUsage,
        ...at(2),
      },
    ]);
    expect(state.messages.get("a")).toMatchObject({ calls: [{ id: "named", tool: "look", inputText: "{" }] });
    expect([...state.calls]).toEqual([["named", "a"]]);
  });

  test("by default, a user wrote a message and a summary covers the messages above it", () => {
    const at = (seq: number) => ({ seq, epoch: 1, at: seq });
    const parts = [{ type: "text", text: "Hi" }] as const;
    const state = replay([
      { type: "message.added", role: "user", message: "q", parentId: null, parts, ...at(1) },
      { type: "message.added", role: "summary", message: "s", parentId: "q", parts, usage: noUsage, cost: 2, ...at(2) },
    ]);
    expect([...state.messages.values()]).toEqual([
      { id: "q", parentId: null, createdAt: 1, role: "user", author: "user", parts },
      { id: "s", parentId: "q", createdAt: 2, role: "summary", covers: "q", parts, usage: noUsage, cost: 2 },
    ]);
    expect(state.cost).toBe(2);
  });

  test("text that a checkpoint repeats counts once, wherever a client was cut off", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(), (whole, a, b) => {
        const [saved, seen] = [a % (whole.length + 1), b % (whole.length + 1)];
        const at = (seq: number) => ({ seq, epoch: 1, at: 1 });
        const state = replay([
          {
            type: "run.started",
            run: "r",
            agent: "a",
            model: "m",
            settings: {},
            limits: {},
            mode: "chat",
            instructions: "",
            tools: "",
            leaf: null,
            ...at(1),
          },
          { type: "message.started", message: "m", parentId: null, run: "r", model: "m", ...at(2) },
          {
            type: "text.delta",
            message: "m",
            part: 0,
            text: whole.slice(0, Math.min(seen, saved)),
            seq: 1,
            epoch: 1,
            offset: 1,
            ...source,
          },
          {
            type: "message.checkpoint",
            message: "m",
            parts: [{ index: 0, type: "text", offset: 0, text: whole.slice(0, saved) }],
            ...at(3),
          },
          {
            type: "text.delta",
            message: "m",
            part: 0,
            text: whole.slice(saved),
            seq: 1,
            epoch: 1,
            offset: 1,
            ...source,
          },
        ]);
        expect(state.messages.get("m")?.parts).toEqual([{ type: "text", text: whole }]);
      }),
    );
  });

  test("F20: a reader that begins at any place of the feed, also within an answer, has messages without holes", async () => {
    const { items } = await conversation();
    let inTheMiddle = 0;
    for (let begin = 0; begin < items.length; begin++) {
      const state = emptyConversation("c");
      // Like a snapshot with only an outline of the answer so far.
      const before = items.slice(0, begin).filter((item) => isEvent(item) && item.type !== "message.checkpoint");
      for (const item of [...before, ...items.slice(begin)]) {
        reduce(state, item);
        for (const { parts } of state.messages.values()) expect([...parts]).not.toContain(undefined);
      }
      if (items[begin]?.type === "call.input.delta") inTheMiddle++;
    }
    expect(inTheMiddle).toBeGreaterThan(0);
  });

  test("F6: in any order of growth, each message is on the path of a leaf, and siblings keep their order", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 60 }), (choices) => {
        const state = emptyConversation("c");
        choices.forEach((choice, index) => {
          const parent = choice % (index + 1);
          reduce(state, {
            type: "message.added",
            message: `m${index}`,
            parentId: parent === index ? null : `m${parent}`,
            role: "user",
            parts: [{ type: "text", text: `${index}` }],
            seq: index + 1,
            epoch: 1,
            at: index,
          });
        });
        const reached = new Set(leaves(state).flatMap((leaf) => pathTo(state, leaf).map(({ id }) => id)));
        expect(reached.size).toBe(choices.length);
        for (const [, children] of state.children) {
          expect([...children].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)))).toEqual(children);
          for (const child of children) expect(siblings(state, child)).toBe(children);
        }
        expect(leaves(state)).toContain(newestLeaf(state, "m0"));
      }),
    );
  });

  test("a path of 100,000 messages is walked without recursion", () => {
    const state = emptyConversation("c");
    for (let index = 0; index < 100_000; index++) {
      reduce(state, {
        type: "message.added",
        message: `m${index}`,
        parentId: index === 0 ? null : `m${index - 1}`,
        role: "user",
        parts: [],
        seq: index + 1,
        epoch: 1,
        at: 0,
      });
    }
    expect(pathTo(state, "m99999")).toHaveLength(100_000);
    expect(leaves(state)).toEqual(["m99999"]);
    expect(newestLeaf(state, "m0")).toBe("m99999");
  });

  test("usage and cost are those of the given path, and of the whole tree", async () => {
    const { state } = await conversation();
    const branches = leaves(state).map((leaf) => usageOnPath(pathTo(state, leaf)).usage.output);
    expect(branches).toEqual([2, 1, 1]);
    expect(state.usage.output).toBe(4);
    expect([...state.messages.values()].every(isSettled)).toBe(true);
  });

  test("forgetting keeps the newest messages from a user message on, and drops the children of the others", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel(() => "ok") });
    for (const line of ["one", "two", "three"]) await agent.send(line, { session });
    const path = pathTo(session.state, session.state.leaf);
    await agent.send("beside", { session, at: path[1]?.id ?? "" });
    expect(forgetBefore(session.state, path, 3)).toEqual(path.slice(4));
    expect([...session.state.messages.keys()]).toEqual(path.slice(4).map(({ id }) => id));
    expect(session.state.children.get(null)).toEqual([path[4]?.id]);
  });
});

describe("turns that broke off (W48)", () => {
  const run = { agent: "a", model: "m", settings: {}, limits: {}, mode: "chat", instructions: "", tools: "" } as const;
  const said = { type: "message.added", message: "m1", parentId: null, role: "user", parts: [] } as const;
  const failed = { code: "quota", message: "No credit is left." };
  const events: readonly EventBody[] = [
    { type: "conversation.created", id: "c", labels: {} },
    said,
    { type: "run.started", run: "r1", leaf: "m1", ...run },
    { type: "run.ended", run: "r1", reason: "failed", leaf: "m1", error: failed },
  ];
  const stateAfter = (bodies: readonly EventBody[]) => {
    const state = emptyConversation("c");
    for (const [index, body] of bodies.entries()) reduce(state, { ...body, seq: index + 1, epoch: 1, at: 0 });
    return state;
  };

  test("W48: a turn that failed before its first word is known by its place, with the log's words", () => {
    expect([...stateAfter(events).broken]).toEqual([["m1", { run: "r1", reason: "failed", ...failed }]]);
  });

  test("W48: a continuation clears the failure, and the call of a sub-agent reports the sub-agent's failure", () => {
    const again: EventBody = { type: "run.started", run: "r2", leaf: "m1", ...run };
    expect(stateAfter([...events, again]).broken.size).toBe(0);
    const launched = events.map((event) => (event.type === "run.started" ? { ...event, call: "k" } : event));
    expect(stateAfter(launched).broken.size).toBe(0);
  });
});

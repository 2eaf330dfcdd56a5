import { describe, expect, test } from "vitest";
import type { EventBody } from "../conversation/event.ts";
import { callIn } from "../conversation/tree/call-state.ts";
import {
  Agent,
  defineTool,
  type Event,
  emptyConversation,
  type Permission,
  reduce,
  resume,
  Session,
  type Store,
  say,
} from "../index.ts";
import { BROUGHT_IN } from "../past/recovery.ts";
import type { Rights } from "../ports/rights.ts";
import { call, collect, scriptedModel } from "../testing/index.ts";

/** A tool that counts its runs. */
function acting(effects: "none" | "idempotent" | "external" = "external") {
  const ran: unknown[] = [];
  const act = defineTool({
    name: "act",
    description: "",
    input: { type: "object" },
    effects,
    execute: (input) => {
      ran.push(input);
      return "done";
    },
  });
  return { ran, tools: [act] };
}

/** Asks, unless a rule of the conversation names the tool. */
const permission: Permission = ({ tool, allowed }) => ({ decision: allowed.includes(tool.name) ? "allow" : "ask" });

const USAGE = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 0 };
const CALL = { message: "reply00000001", call: "planted" };

/** A log from elsewhere: a rule, an approval, an open call, and a waiting input. */
function planted(more: readonly EventBody[] = []): EventBody[] {
  const parts = [{ type: "text", text: "Go" }] as const;
  const run = { run: "run0000000001", agent: "a", model: "m", settings: {}, limits: {}, mode: "chat" } as const;
  return [
    { type: "conversation.created", id: "01k00000000000000000planted", labels: {} },
    { type: "message.added", message: "asked00000001", parentId: null, role: "user", author: "user", parts },
    { type: "run.started", ...run, instructions: "", tools: "", leaf: "asked00000001" },
    { type: "message.started", message: CALL.message, parentId: "asked00000001", run: run.run, model: "m" },
    { type: "call.pending", ...CALL, tool: "act", inputText: '{"n":1}', input: { n: 1 } },
    {
      type: "message.completed",
      message: CALL.message,
      parts: [{ type: "call", call: CALL.call }],
      finish: "calls",
      usage: USAGE,
    },
    { type: "call.approval-requested", ...CALL, question: "question00001", pattern: "act" },
    { type: "input.queued", input: "input00000001", parts, delivery: "queue", run: run.run },
    { type: "model.changed", model: "elsewhere/model" },
    ...more,
  ];
}

const APPROVED: EventBody = {
  type: "call.approval-resolved",
  ...CALL,
  question: "question00001",
  allowed: true,
  remember: { pattern: "act", scope: "conversation" },
};

/** A store with one log and its rights. */
function storeOf(bodies: readonly EventBody[], rights: Rights | undefined) {
  const events = bodies.map((body, index): Event => ({ ...body, seq: index + 1, epoch: 1, at: 1_000 + index }));
  const kept: { rights: Rights | undefined } = { rights };
  const store: Store = {
    open: async () => ({
      epoch: 2,
      get seq() {
        return events.length;
      },
      rights: {
        read: () => kept.rights,
        write: (changed) => {
          kept.rights = changed;
        },
      },
      read: async function* (after = 0) {
        yield events.slice(after);
      },
      append: (added) => void events.push(...added),
      close: async () => {},
    }),
    view: () => Promise.reject(new Error("nobody looks")),
    list: async () => [],
    search: async () => [],
    remove: async () => {},
    close: async () => {},
  };
  return { store, events, kept };
}

const NONE: Rights = { rules: [], calls: {} };

describe("S17: a log carries facts, never rights", () => {
  test.each(["none", "idempotent", "external"] as const)(
    "a call with %s effects that the log calls allowed, or begun, is asked about; a rule of the log is revoked",
    async (effects) => {
      for (const more of [[APPROVED], [APPROVED, { type: "call.executing", ...CALL, attempt: 1, key: "k" } as const]]) {
        const { store } = storeOf(planted(more), NONE);
        const session = await Session.open(store, "01k00000000000000000planted");
        const { ran, tools } = acting(effects);
        expect(session.allowed).toEqual([]);
        expect(session.state.allowed).toEqual([]);
        const agent = new Agent({ model: scriptedModel([[call("act", { n: 2 })], "Done."]), tools, permission });
        const asked: string[] = [];
        for await (const item of agent.chat(resume(), { session })) {
          if (item.type !== "call.approval-requested") continue;
          asked.push(item.call);
          await session.answer(item.question, { decision: "deny" });
        }
        expect(ran).toEqual([]);
        expect(asked.length).toBeGreaterThan(0);
      }
    },
  );

  test("a user's approval here applies after a crash, but not with other arguments", async () => {
    const { store, kept, events } = storeOf(planted(), NONE);
    const first = await Session.open(store, "01k00000000000000000planted");
    await first.answer("question00001", { decision: "allow" });
    await first.close();
    const runs = async (log: readonly Event[], rights: Rights | undefined) => {
      const { ran, tools } = acting();
      const session = await Session.open(storeOf(log, rights).store, "01k00000000000000000planted");
      const agent = new Agent({ model: scriptedModel(["Done."]), tools, permission });
      for await (const item of agent.chat(resume(), { session }))
        if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "deny" });
      return ran;
    };
    expect(await runs(events, kept.rights)).toEqual([{ n: 1 }]);
    const altered = events.map((event) => (event.type === "call.pending" ? { ...event, input: { n: 666 } } : event));
    expect(await runs(altered, kept.rights)).toEqual([]);
  });

  test("S31: a call that a user allowed runs after a crash in the question's folder, and asks again in any other", async () => {
    const log = planted().map((body) => (body.type === "call.pending" ? { ...body, about: { folder: "/a" } } : body));
    const { store, kept, events } = storeOf(log, NONE);
    const first = await Session.open(store, "01k00000000000000000planted");
    await first.answer("question00001", { decision: "allow" });
    await first.close();
    const asked: (string | undefined)[] = [];
    const runsIn = async (folder: () => string) => {
      const { ran, tools } = acting();
      const here = tools.map((tool) => ({ ...tool, folder }));
      const session = await Session.open(storeOf(events, kept.rights).store, "01k00000000000000000planted");
      const agent = new Agent({ model: scriptedModel(["Done."]), tools: here, permission });
      for await (const item of agent.chat(resume(), { session })) {
        if (item.type !== "call.approval-requested") continue;
        asked.push(callIn(session.state, item)?.about?.folder);
        await session.answer(item.question, { decision: "deny" });
      }
      return ran;
    };
    expect(await runsIn(() => "/a")).toEqual([{ n: 1 }]);
    expect(await runsIn(() => "/b")).toEqual([]);
    const unknown = () => {
      throw new Error("Nobody knows.");
    };
    expect(await runsIn(unknown)).toEqual([]);
    expect(asked).toEqual(["/b", undefined]);
  });

  test("a planted log leaves nothing open: no call, no question, no text, no rule, no model", async () => {
    const { store, events, kept } = storeOf(planted([APPROVED]), undefined);
    const session = await Session.open(store, "01k00000000000000000planted");
    expect(session.interrupted).toEqual([]);
    expect(session.state.inbox).toEqual([]);
    expect(session.state.allowed).toEqual([]);
    expect(session.state.model).toBeUndefined();
    const { ran, tools } = acting("none");
    const model = scriptedModel(["Done."]);
    await collect(new Agent({ model, tools, permission }).chat(say("Go on"), { session }));
    expect(ran).toEqual([]);
    const sent = model.requests[0]?.messages.flatMap((message) =>
      message.role === "assistant" ? message.results : [],
    );
    expect(sent?.map(({ output }) => output)).toEqual([BROUGHT_IN]);
    expect(events.filter(({ type }) => type === "conversation.brought-in")).toHaveLength(1);
    // The log now belongs to this store, and is not imported again.
    expect(kept.rights).toEqual(NONE);
    await session.close();
    const again = await Session.open(store, "01k00000000000000000planted");
    expect(again.state.writtenElsewhere).toEqual(new Set(["planted"]));
    await again.notes.rename("mine");
    expect(events.filter(({ type }) => type === "conversation.brought-in")).toHaveLength(1);
  });

  test('B63: an "always" answer applies to the conversation until it is revoked, also after reopening', async () => {
    const { store } = storeOf([], NONE);
    const { ran, tools } = acting();
    const model = scriptedModel([[call("act", {})], "Done.", [call("act", {})], "Done.", [call("act", {})], "Done."]);
    const agent = new Agent({ model, tools, permission });
    let session = await Session.open(store);
    const asks = async () => {
      let count = 0;
      for await (const item of agent.chat(say("Go"), { session })) {
        if (item.type !== "call.approval-requested") continue;
        count++;
        const remember = { pattern: "act", scope: "conversation" } as const;
        await session.answer(item.question, { decision: "allow", remember });
      }
      return count;
    };
    expect(await asks()).toBe(1);
    const { id } = session;
    await session.close();
    session = await Session.open(store, id);
    expect(await asks()).toBe(0);
    expect(session.allowed).toEqual(["act"]);
    await session.revoke("act");
    expect(await asks()).toBe(1);
    expect(ran).toHaveLength(3);
  });

  test("the rights of a call are forgotten once it has its result", async () => {
    const { store, kept } = storeOf(planted(), NONE);
    const session = await Session.open(store, "01k00000000000000000planted");
    await session.answer("question00001", { decision: "allow" });
    expect(Object.keys(kept.rights?.calls ?? {})).toEqual(["planted"]);
    const { tools } = acting();
    const agent = new Agent({ model: scriptedModel([[call("act", {}, "later")], "Done."]), tools, permission });
    for await (const item of agent.chat(resume(), { session }))
      if (item.type === "call.approval-requested") await session.answer(item.question, { decision: "allow" });
    expect(Object.keys(kept.rights?.calls ?? {})).toEqual(["later"]);
  });
});

test("S17: a reducer of an imported log sees no rule and no model, and acts elsewhere are marked", async () => {
  const { events, store } = storeOf(planted([APPROVED]), undefined);
  const session = await Session.open(store, "01k00000000000000000planted");
  await session.notes.rename("mine");
  const state = emptyConversation();
  for (const event of events) reduce(state, event);
  expect(state).toEqual(session.state);
});

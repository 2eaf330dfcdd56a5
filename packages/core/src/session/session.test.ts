import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { type FeedItem, isDelta } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { call, pause, readUntil, scriptedModel, stall, text } from "../testing/index.ts";
import { SlowStore, wait } from "./session.fixture.ts";
import { Session } from "./session.ts";

describe("a session", () => {
  test("writes each fact to the log before readers get it", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const agent = new Agent({ model: scriptedModel(["Hello."]) });
    for await (const item of agent.chat(say("Hi"), { session })) {
      if ("at" in item) expect(store.events).toContainEqual(item);
    }
    expect(store.events.map(({ seq }) => seq)).toEqual(store.events.map((_, index) => index + 1));
  });

  test("is the same after reopening, and continues", async () => {
    const store = new SlowStore();
    const first = await Session.open(store);
    await new Agent({ model: scriptedModel([[text("a"), pause(2), text("b")]]) }).send("Hi", { session: first });
    await first.close();
    const second = await Session.open(store, first.id);
    expect(store.opened).toBe(first.id);
    expect({ ...second.state, epoch: 0 }).toEqual({ ...first.state, epoch: 0 });
    const turn = await new Agent({ model: scriptedModel(["ok"]) }).send("Again", { session: second });
    expect(turn.message?.parentId).toBe([...second.state.messages.keys()][2]);
  });

  test("F7: ends the run if the store refuses a write, gives readers the reason, and shows nothing unwritten", async () => {
    const store = new SlowStore();
    store.failAt = 7;
    const session = await Session.open(store);
    const agent = new Agent({ model: scriptedModel([[call("wait")]]), tools: [wait] });
    const shown: FeedItem[] = [];
    const chat = (async () => {
      for await (const item of agent.chat(say("Hi"), { session })) shown.push(item);
    })();
    await expect(chat).rejects.toThrow(/could not be written: The disk is full/);
    expect(shown.filter((item) => "at" in item).length).toBeLessThanOrEqual(7);
    await expect(agent.send("More", { session })).rejects.toMatchObject({ code: "broken" });
  });

  test("a new conversation is written with its first message, under the id that the store knows", async () => {
    const store = new SlowStore();
    const session = await Session.open(store, undefined, { labels: { cwd: "/home" } });
    expect([session.id, store.events.length]).toEqual([store.opened, 0]);
    expect(session.state.labels).toEqual({ cwd: "/home" });
    await new Agent({ model: scriptedModel(["ok"]) }).send("Hi", { session });
    expect(store.events[0]).toMatchObject({
      type: "conversation.created",
      id: session.id,
      labels: { cwd: "/home" },
      seq: 1,
    });
    expect(session.state.labels).toEqual({ cwd: "/home" });
  });

  test("writes without overlaps, however many calls end at once", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const look = { ...wait, name: "look", effects: "none" as const, execute: () => "seen" };
    const model = scriptedModel([Array.from({ length: 8 }, () => call("look")), "ok"]);
    await new Agent({ model, tools: [look] }).send("Hi", { session });
    expect(store.events.map(({ seq }) => seq)).toEqual(store.events.map((_, index) => index + 1));
  });

  test("F9: refuses a chat that waits for its branch when it closes, and writes nothing of the chat", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const agent = new Agent({ model: scriptedModel(() => [text("x"), stall()]) });
    const first = agent.send("one", { session });
    const second = agent.send("two", { session });
    second.catch(() => {});
    await readUntil(session.feed(), isDelta);
    await session.close();
    expect(await first).toMatchObject({ reason: "interrupted" });
    await expect(second).rejects.toMatchObject({ code: "closed" });
    expect(store.events.at(-1)).toMatchObject({ type: "run.ended" });
    expect(store.events.filter(({ type }) => type === "run.started")).toHaveLength(1);
  });

  test("holds back a chat that waits for its branch after an interrupt too; leaving the chat does not wait for the other run", async () => {
    const session = Session.inMemory();
    const agent = new Agent({ model: scriptedModel(() => [text("x"), stall()]) });
    const first = agent.send("one", { session });
    await new Promise((resolve) => setImmediate(resolve));
    const waiting = agent.chat(say("two"), { session })[Symbol.asyncIterator]();
    const leaving = agent.chat(say("three"), { session })[Symbol.asyncIterator]();
    void leaving.next();
    await leaving.return?.();
    session.interrupt();
    expect(await readUntil(waiting, (item) => item.type === "chat.ended")).toMatchObject({ reason: "interrupted" });
    await first;
    expect([...session.state.messages.values()].map(textOf)).toEqual(["one", "x"]);
  });

  test("interrupts its runs when it closes, and waits for them", async () => {
    const session = Session.inMemory();
    const feed = new Agent({ model: scriptedModel([[call("wait")]]), tools: [wait] })
      .chat(say("Hi"), { session })
      [Symbol.asyncIterator]();
    await readUntil(feed, (item) => item.type === "call.executing");
    await session.close();
    expect(session.state.lastRunEnd).toBe("interrupted");
    await expect(new Agent({ model: scriptedModel(["x"]) }).send("Hi", { session })).rejects.toMatchObject({
      code: "closed",
    });
  });

  test("runs two branches at once", async () => {
    const session = Session.inMemory();
    const root = new Agent({ model: scriptedModel(["root"]) });
    await root.send("start", { session });
    const at = session.state.leaf as string;
    let live = 0;
    const both = Promise.withResolvers<void>();
    const meet = (): Agent =>
      new Agent({
        model: scriptedModel([[call("meet")], "met"]),
        tools: [{ ...wait, name: "meet", execute: () => (++live === 2 ? both.resolve() : both.promise) }],
      });
    const agents = [meet(), meet()];
    // Both continue from the same message, so the second branches off at its user message.
    const first = agents[0]?.send("left", { session, at });
    await new Promise((resolve) => setImmediate(resolve));
    const second = agents[1]?.send("right", { session, at });
    expect((await Promise.all([first, second])).map((turn) => turn?.text)).toEqual(["met", "met"]);
    expect(session.state.children.get(at)).toHaveLength(2);
  });
});

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Agent } from "../agent/agent.ts";
import { say } from "../agent/directive.ts";
import { type Cursor, cursorOf, type FeedItem, isDelta } from "../conversation/feed-item.ts";
import { textOf } from "../conversation/message.ts";
import { emptyConversation } from "../conversation/state.ts";
import { reduce } from "../conversation/tree/reduce.ts";
import type { ModelDriver } from "../ports/model.ts";
import { call, collect, pause, readUntil, scriptedModel, stall, text } from "../testing/index.ts";
import { SlowStore, wait } from "./session.fixture.ts";
import { Session } from "./session.ts";

describe("the feed", () => {
  test("watching disturbs no run, and a watcher that leaves does not stop the run", async () => {
    const session = Session.inMemory();
    const watcher = session.feed();
    const sending = new Agent({ model: scriptedModel([[text("a"), pause(5), text("b")]]) }).send("Hi", { session });
    await readUntil(watcher, (item) => item.type === "text.delta");
    await watcher.return?.();
    expect((await sending).text).toBe("ab");
  });

  test("B50: a reader's state becomes the session's from any cursor on, without gap or repetition", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const seen: FeedItem[] = [];
    const watcher = (async () => {
      for await (const item of session.feed()) seen.push(item);
    })();
    const look = { ...wait, name: "look", effects: "none" as const, execute: () => "seen" };
    const script = [
      [text("Let me ", "see "), call("look"), call("look")],
      [text("It ", "is ", "so."), stall()],
    ];
    const agent = new Agent({ model: scriptedModel(script), tools: [look] });
    const chat = agent.chat(say("Hi"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "text.delta" && item.text === "so.");

    const known = [...seen];
    const cursors: (Cursor | undefined)[] = [{ epoch: 1, seq: 0, offset: 0 }, ...known.map(cursorOf)];
    const joined = cursors.map((cursor, index) => {
      const state = emptyConversation();
      for (const item of known.slice(0, index)) reduce(state, item);
      const feed = session.feed({ from: cursor as Cursor });
      return {
        state,
        reading: (async () => {
          for await (const item of feed) reduce(state, item);
        })(),
      };
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    session.interrupt();
    await collect({ [Symbol.asyncIterator]: () => chat });
    const expected = structuredClone(session.state);
    await session.close();
    await watcher;
    for (const { state, reading } of joined) {
      await reading;
      expect(state).toEqual(expected);
    }
  });

  test("a cursor in the middle of a delta gets the rest of it", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const chat = new Agent({ model: scriptedModel([[text("abcdef"), stall()]]) })
      .chat(say("Hi"), { session })
      [Symbol.asyncIterator]();
    const delta = await readUntil(chat, isDelta);
    const cursor = { ...(cursorOf(delta) as Cursor), offset: 2 };
    const feed = session.feed({ from: cursor });
    expect(await readUntil(feed, isDelta)).toMatchObject({ text: "cdef" });
    await feed.return?.();
    await chat.return?.();
  });

  test("a cursor of another writer gets a reset", async () => {
    const store = new SlowStore();
    const before = await Session.open(store);
    await new Agent({ model: scriptedModel(["ok"]) }).send("Hi", { session: before });
    await before.close();
    const session = await Session.open(store, before.id);
    const feed = session.feed({ from: { epoch: 1, seq: 1, offset: 500 } });
    expect((await feed.next()).value).toEqual({ type: "feed.reset", epoch: 2, seq: 1 });
    await feed.return?.();
  });

  test("B50: a reset is followed by all events of this writer, also if the reader was ahead of the surviving events", async () => {
    const store = new SlowStore();
    const before = await Session.open(store);
    await new Agent({ model: scriptedModel(["ok"]) }).send("Hi", { session: before });
    await before.close();
    store.events.splice(5);
    const session = await Session.open(store, before.id);
    await new Agent({ model: scriptedModel(["ok"]) }).send("Again", { session });
    const feed = session.feed({ from: { epoch: 1, seq: 7, offset: 0 } });
    expect((await feed.next()).value).toEqual({ type: "feed.reset", epoch: 2, seq: 5 });
    expect((await feed.next()).value).toMatchObject({ seq: 6 });
    await feed.return?.();
  });

  test("B50: a reader that joins during an append gets each item once, and its cursor only grows", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const look = { ...wait, name: "look", effects: "none" as const, execute: () => "seen" };
    const model = scriptedModel([[text("Let me see"), call("look")], "So."]);
    const sending = new Agent({ model, tools: [look] }).send("Hi", { session });
    const readers: { state: ReturnType<typeof emptyConversation>; reading: Promise<void> }[] = [];
    for (let index = 0; index < 30; index++) {
      const state = emptyConversation(session.id);
      const feed = session.feed({ from: { epoch: 1, seq: 0, offset: 0 } });
      const reading = (async () => {
        let last = 0;
        for await (const item of feed) {
          const cursor = cursorOf(item) as Cursor;
          expect(cursor.seq).toBeGreaterThanOrEqual(last);
          last = cursor.seq;
          expect(reduce(state, item).skipped).toBeUndefined();
        }
      })();
      readers.push({ state, reading });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await sending;
    const expected = structuredClone(session.state);
    await session.close();
    for (const { state, reading } of readers) {
      await reading;
      expect(state).toEqual(expected);
    }
  });

  test("a feed that is left during a wait, or before its reading, is gone", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    await new Agent({ model: scriptedModel(["ok"]) }).send("Hi", { session });
    const feed = session.feed({ from: session.snapshot().cursor });
    const next = feed.next();
    await feed.return?.();
    expect(await next).toMatchObject({ done: true });
    const unread = session.feed();
    await unread.return?.();
    expect(await unread.next()).toMatchObject({ done: true });
  });

  test("B58, F19: a watcher that does not read is bounded: its deltas are merged, and then it must come back", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const idle = session.feed();
    const piece = "x".repeat(50_000);
    const model = scriptedModel((_, index) =>
      index === 0 ? Array.from({ length: 40 }, () => text(piece)) : Array.from({ length: 100 }, () => text(piece)),
    );
    const agent = new Agent({ model });
    await agent.send("some", { session });
    const read: FeedItem[] = [];
    for (let { value } = await idle.next(); value.type !== "run.ended"; { value } = await idle.next()) read.push(value);
    expect(read.filter(isDelta).reduce((length, delta) => length + delta.text.length, 0)).toBe(40 * 50_000);
    const cursor = read.map(cursorOf).at(-1) as Cursor;
    await agent.send("too much", { session });
    await expect(idle.next()).rejects.toMatchObject({ code: "behind" });
    const state = emptyConversation(session.id);
    for (const event of store.events.slice(0, cursor.seq)) reduce(state, event);
    const again = session.feed({ from: cursor });
    await session.close();
    for await (const item of again) reduce(state, item);
    expect(state.seq).toBe(session.state.seq);
  });

  test("items that are requested at once arrive in order", async () => {
    const session = Session.inMemory();
    const feed = session.feed();
    const asked = [feed.next(), feed.next(), feed.next()];
    session.notify({ type: "callback.failed", callback: "a", reason: "" });
    session.notify({ type: "callback.failed", callback: "b", reason: "" });
    await session.close();
    const got = await Promise.all(asked);
    expect(got.map(({ value, done }) => (done ? "end" : (value as { callback: string }).callback))).toEqual([
      "a",
      "b",
      "end",
    ]);
  });

  test("a session without a log cannot go back", async () => {
    const feed = Session.inMemory().feed({ from: { epoch: 1, seq: 0, offset: 0 } });
    await expect(feed.next()).rejects.toThrow(/has no log/);
  });

  test("F16: streaming text is in the log within a quarter of a second, without repetition", async () => {
    const store = new SlowStore();
    const session = await Session.open(store);
    const asked = Promise.withResolvers<(words: string) => void>();
    const model: ModelDriver = {
      ...scriptedModel([]),
      stream: (_, sink, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          asked.resolve((words) => void sink.push([{ type: "text", text: words }]));
        }),
    };
    const chat = new Agent({ model }).chat(say("Hi"), { session })[Symbol.asyncIterator]();
    await readUntil(chat, (item) => item.type === "run.started");
    const hear = await asked.promise;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    for (const words of ["one ", "two "]) {
      hear(words);
      // The store takes a millisecond.
      await vi.advanceTimersByTimeAsync(250 + 1);
    }
    hear("three");
    vi.useRealTimers();
    await readUntil(chat, (item) => isDelta(item) && item.text === "three");
    const checkpoints = store.events.filter((event) => event.type === "message.checkpoint");
    expect(checkpoints.map(({ parts }) => parts)).toEqual([
      [{ index: 0, type: "text", offset: 0, text: "one " }],
      [{ index: 0, type: "text", offset: 4, text: "two " }],
    ]);
    // The state for a new process, if this one were killed now.
    const found = emptyConversation();
    for (const event of store.events) reduce(found, event);
    expect([...found.messages.values()].map(textOf)).toEqual(["Hi", "one two "]);
    await chat.return?.();
  });

  test("a snapshot is a copy with its cursor", async () => {
    const session = Session.inMemory();
    await new Agent({ model: scriptedModel(["ok"]) }).send("Hi", { session });
    const { state, cursor } = session.snapshot();
    expect(state).toEqual(session.state);
    expect(state).not.toBe(session.state);
    expect(cursor).toEqual({ epoch: 1, seq: session.state.seq, offset: 0 });
  });
});

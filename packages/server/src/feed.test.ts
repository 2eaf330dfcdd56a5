import type { Mirror } from "@banyan/client";
import { createId, defineTool, isDelta, Session } from "@banyan/core";
import { call, pause, reasoning, scriptedModel, text, until } from "@banyan/core/testing";
import { describe, expect, test, vi } from "vitest";
import { readAll, seen, stored } from "./testing/seen.fixture.ts";
import { serving } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `);

/** A tool that waits for the test and then emits its output in pieces. */
function gated() {
  const gate = Promise.withResolvers<void>();
  const tool = defineTool({
    name: "wait",
    description: "",
    input: { type: "object" },
    effects: "none",
    async execute(_input: unknown, { progress }) {
      progress("waiting");
      await gate.promise;
      return "waited";
    },
  });
  return { tool, open: gate.resolve };
}

describe("B50: a snapshot with a cursor, and the feed from there", () => {
  test("B50: a client that joins in mid-sentence has the beginning and gets the rest", async () => {
    const gate = gated();
    const model = scriptedModel([[reasoning("Hm. "), text("First "), call("wait")], "Done."]);
    const { server, store } = await serving({ model, tools: [gate.tool] });
    const early = await TestClient.connect(server);
    const { conversation } = await early.ask("conversation.create", {});
    await early.watch(conversation);
    await early.ask("turn.say", { conversation, parts: say("go") });
    await early.item("call.output.delta");
    const late = await TestClient.connect(server);
    const { state } = await late.watch(conversation);
    expect([...state.messages.values()].at(-1)).toMatchObject({
      parts: [{ type: "reasoning", text: "Hm. " }, { type: "text", text: "First " }, { type: "call" }],
      calls: [{ tool: "wait", status: "executing", progress: "waiting" }],
    });
    expect(state.runs.size).toBe(1);
    gate.open();
    await Promise.all([early.item("run.ended"), late.item("run.ended")]);
    await server.stop();
    const truth = seen(await stored(store, conversation));
    for (const client of [early, late]) expect(seen(client.mirrors.get(conversation)?.state as never)).toEqual(truth);
  });

  test("B50: from the cursor of the beginning a client gets the whole log as events", async () => {
    const { server } = await serving({ model: scriptedModel(["One.", "Two."]) });
    const writer = await TestClient.connect(server);
    const { conversation } = await writer.ask("conversation.create", {});
    await writer.watch(conversation);
    for (const number of [1, 2]) {
      await writer.ask("turn.say", { conversation, parts: say(String(number)) });
      await writer.until(() => writer.items.filter(({ type }) => type === "run.ended").length === number);
    }
    const reader = await TestClient.connect(server);
    await reader.ask("feed.subscribe", { conversation, from: { epoch: 0, seq: 0, offset: 0 } });
    await reader.until(() => reader.items.filter(({ type }) => type === "run.ended").length === 2);
    const events = reader.items.filter((item) => !isDelta(item));
    expect(events.flatMap((item) => ("at" in item ? [item.seq] : []))).toEqual(
      Array.from({ length: events.length }, (_, index) => index + 1),
    );
    // Text from the log also arrives as deltas (W81).
    expect(reader.items.flatMap((item) => (item.type === "text.delta" ? [item.text] : []))).toEqual(["One.", "Two."]);
    expect(reader.mirrors.size).toBe(0);
  });

  test("B50: messages that are read during a stream are consistent with the later feed", async () => {
    // Each answer waits at its gates, so a slow machine has as many reads during the stream as a fast one.
    const gates = Array.from({ length: 8 }, () => Promise.withResolvers<void>());
    const model = scriptedModel(
      (_request, index) =>
        gates.flatMap((gate, part) => [until(gate.promise), text(...words(40 + index), `end of part ${part}. `)]),
      { pace: 0.2 },
    );
    const { server, store } = await serving({ model });
    const [client, steady] = [await TestClient.connect(server), await TestClient.connect(server)];
    const { conversation } = await client.ask("conversation.create", {});
    const { message } = await client.ask("turn.say", { conversation, parts: say("one") });
    await Promise.all([client.watch(conversation), steady.watch(conversation)]);
    await client.ask("turn.retry", { conversation, at: message, parts: say("two") });
    await client.until(() => client.mirrors.get(conversation)?.state.messages.size === 4);
    for (const [part, gate] of gates.entries()) {
      gate.resolve();
      const messages = [...(client.mirrors.get(conversation)?.state.messages.keys() ?? [])];
      await client.ask("message.read", { conversation, messages });
      const hasPart = ({ mirrors }: TestClient) =>
        JSON.stringify([...(mirrors.get(conversation)?.state.messages.values() ?? [])]).split(`end of part ${part}. `)
          .length === 3;
      for (const each of [client, steady]) await each.until(() => hasPart(each));
    }
    for (const each of [client, steady]) await each.until(() => each.mirrors.get(conversation)?.state.runs.size === 0);
    // At the same feed position, both clients have the same text, from reads or from frames.
    const places = [...client.said.keys()].filter((place) => steady.said.has(place));
    expect(places.length).toBeGreaterThan(3);
    for (const place of places) expect(client.said.get(place), place).toBe(steady.said.get(place));
    await server.stop();
    expect(seen(client.mirrors.get(conversation)?.state as never)).toEqual(seen(await stored(store, conversation)));
  });

  test("B50: a client that subscribes again on the same connection gets each item once", async () => {
    const { server } = await serving({ model: scriptedModel([[text(...words(200))]], { pace: 0.5 }) });
    const client = await TestClient.connect(server);
    const { conversation } = await client.ask("conversation.create", {});
    for (const _ of [1, 2, 3]) await client.watch(conversation);
    await client.ask("turn.say", { conversation, parts: say("go") });
    await client.item("text.delta");
    await client.watch(conversation);
    await client.until(() => client.mirrors.get(conversation)?.state.runs.size === 0);
    await client.ask("feed.unsubscribe", { conversation });
    const before = client.items.length;
    await client.ask("message.label", {
      conversation,
      message: client.mirrors.get(conversation)?.state.leaf ?? "",
      label: "x",
    });
    expect(client.items).toHaveLength(before);
  });

  test("B50: two that open a conversation at the same moment both get it", async () => {
    const { server, store } = await serving({ model: scriptedModel([]) });
    const id = await longConversation(store, 3);
    const clients = [await TestClient.connect(server), await TestClient.connect(server)];
    const mirrors = await Promise.all(clients.map((client) => client.watch(id)));
    expect(mirrors.map(({ state }) => state.messages.size)).toEqual([6, 6]);
  });

  test("B50: a cursor of a former server is answered with a snapshot", async () => {
    const first = await serving({ model: scriptedModel(["Hello."]) });
    const client = await TestClient.connect(first.server);
    const { conversation } = await client.ask("conversation.create", {});
    const { cursor: _, ...mirror } = await client.watch(conversation);
    await client.ask("turn.say", { conversation, parts: say("hello") });
    await client.item("run.ended");
    const { cursor } = client.mirrors.get(conversation) as Mirror;
    expect(mirror).toBeDefined();
    await first.server.stop();
    await first.store.close();
    const second = await serving({ model: scriptedModel([]) }, { directory: first.directory });
    const again = await TestClient.connect(second.server);
    await again.ask("feed.subscribe", { conversation, from: cursor });
    const { state } = await again.until(() => again.mirrors.get(conversation));
    expect(seen(state).messages).toEqual(seen(client.mirrors.get(conversation)?.state as never).messages);
  });

  test("a snapshot holds the whole tree in outline, and of the branch in view what is at its end", async () => {
    const { server, store } = await serving({ model: scriptedModel(() => "x".repeat(10_000)) });
    const id = await longConversation(store, 500);
    const client = await TestClient.connect(server);
    const mirror = await client.watch(id);
    const ids = [...mirror.state.messages.keys()];
    expect(ids).toHaveLength(1000);
    const unread = mirror.unread(ids);
    expect(unread).toEqual(ids.slice(0, unread.length));
    expect(unread.length).toBeGreaterThan(800);
    expect(mirror.outline(ids[1] as string)).toMatchObject({
      role: "assistant",
      words: "answer 0 ".repeat(7).slice(0, 60),
      finish: "stop",
      usage: [10, 0, 0, 5, 0],
      cost: 0.25,
      size: 9 * 700,
    });
    const other = ids[101] as string;
    const elsewhere = await client
      .ask("feed.subscribe", { conversation: id, leaf: other })
      .then(() => client.mirrors.get(id));
    expect(elsewhere?.unread([other])).toEqual([]);
    await readAll(client, id);
    await server.stop();
    expect(seen(client.mirrors.get(id)?.state as never)).toEqual(seen(await stored(store, id)));
  });
});

describe("F20: no gap and no repeat", () => {
  test("F20: a client that is cut again and again has what the others have", async () => {
    const gate = gated();
    const model = scriptedModel(
      (_request, index) =>
        index % 3 === 2 ? "That is all." : [reasoning(...words(50)), text(...words(200)), call("wait"), call("wait")],
      { pace: 0.3 },
    );
    gate.open();
    const { server, store } = await serving({ model, tools: [gate.tool] });
    const steady = await TestClient.connect(server);
    const { conversation } = await steady.ask("conversation.create", {});
    await steady.watch(conversation);

    const last = () => steady.mirrors.get(conversation)?.state.seq;
    let done = false;
    let cuts = 0;
    const items: unknown[] = [];
    let current: TestClient | undefined;
    const unsteady = async (): Promise<Mirror> => {
      let mirror: Mirror | undefined;
      for (;;) {
        const client = await TestClient.connect(server);
        current = client;
        client.send("feed.subscribe", { conversation, ...(mirror ? { from: mirror.cursor } : {}) });
        const enough = mirror ? 1 + (cuts % 7) : 0;
        mirror ??= await client.until(() => client.mirrors.get(conversation));
        const { seq } = mirror.state;
        const isEnough = () => client.items.length > enough || (done && (seq === last() || client.items.length > 0));
        await client.until(isEnough).catch(() => {});
        client.socket.terminate();
        await client.end();
        if (client.mirrors.size === 0) mirror.take(client.items);
        items.push(...client.items);
        cuts++;
        if (done && mirror.state.seq === last()) return mirror;
      }
    };
    const cut = unsteady();
    for (const turn of [1, 2]) {
      await steady.ask("turn.say", { conversation, parts: say(`turn ${turn}`) });
      await steady.until(() => steady.items.filter(({ type }) => type === "run.ended").length === turn);
    }
    done = true;
    current?.socket.terminate();
    const mirror = await cut;
    await server.stop();
    const truth = seen(await stored(store, conversation));
    expect(cuts).toBeGreaterThan(10);
    expect(seen(mirror.state)).toEqual(truth);
    expect(seen(steady.mirrors.get(conversation)?.state as never)).toEqual(truth);
    const events = items.flatMap((item) =>
      typeof item === "object" && item && "at" in item && "seq" in item ? [item.seq] : [],
    );
    expect(events).toEqual([...new Set(events)]);
  });
});

describe("F19, B58: a client that does not read", () => {
  test("F19: gets a bounded part, slows no other client, and gets everything when it reads again", async () => {
    const piece = "y".repeat(16 * 1024);
    const loud = defineTool({
      name: "loud",
      description: "",
      input: { type: "object" },
      effects: "none",
      async execute(_input: unknown, { progress }) {
        for (let i = 0; i < 2_000; i++) {
          progress(piece);
          if (i % 10 !== 0) continue;
          // Not faster than the reading client: on a busy machine that client would otherwise count as slow.
          const before = reads.frames.length;
          await vi.waitFor(() => expect(reads.frames.length).toBeGreaterThan(before), { timeout: 60_000, interval: 1 });
        }
        return "loud enough";
      },
    });
    const { server, store } = await serving({ model: scriptedModel([[call("loud")], "Quiet."]), tools: [loud] });
    const [reads, sleeps] = [await TestClient.connect(server), await TestClient.connect(server)];
    const { conversation } = await reads.ask("conversation.create", {});
    await Promise.all([reads.watch(conversation), sleeps.watch(conversation)]);
    sleeps.socket.pause();
    await reads.ask("turn.say", { conversation, parts: say("go") });
    await reads.item("run.ended");
    sleeps.socket.resume();
    await sleeps.item("run.ended");
    const sent = (client: TestClient) => JSON.stringify(client.frames).length;
    expect(sent(reads)).toBeGreaterThan(32_000_000);
    expect(sent(sleeps)).toBeLessThan(16_000_000);
    await server.stop();
    const truth = seen(await stored(store, conversation));
    for (const client of [reads, sleeps]) expect(seen(client.mirrors.get(conversation)?.state as never)).toEqual(truth);
  });
});

test("deltas of the same text within a frame are merged, and the first delta arrives immediately", async () => {
  const model = scriptedModel([[text("first"), pause(60), text(...words(500)), pause(60), text("last")]]);
  const { server } = await serving({ model });
  const client = await TestClient.connect(server);
  const { conversation } = await client.ask("conversation.create", {});
  await client.watch(conversation);
  await client.ask("turn.say", { conversation, parts: say("go") });
  await client.item("run.ended");
  const deltas = client.items.flatMap((item) => (item.type === "text.delta" ? [item.text] : []));
  expect(deltas[0]).toBe("first");
  expect(deltas.join("")).toBe(`first${words(500).join("")}last`);
  expect(deltas.length).toBeLessThan(20);
});

/** A conversation with this number of turns, written by another program. */
async function longConversation(store: Awaited<ReturnType<typeof serving>>["store"], turns: number): Promise<string> {
  const session = await Session.open(store);
  let parentId: string | null = null;
  for (let index = 0; index < turns; index++) {
    const [question, answer, run]: string[] = [createId(), createId(), createId()];
    await session.commit([
      {
        type: "message.added",
        message: question as string,
        parentId,
        role: "user",
        author: "user",
        parts: say(`question ${index}`),
      },
      {
        type: "message.started",
        message: answer as string,
        parentId: question as string,
        run: run as string,
        model: "a/model",
      },
      {
        type: "message.completed",
        message: answer as string,
        parts: [{ type: "text", text: `answer ${index} `.padEnd(9).repeat(700) }],
        finish: "stop",
        usage: { input: 10, cached: 0, cacheWrite: 0, output: 5, reasoning: 0 },
        cost: 0.25,
      },
    ]);
    parentId = answer as string;
  }
  await session.close();
  return session.id;
}

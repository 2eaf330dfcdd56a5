import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createId } from "@banyan/core";
import { scriptedModel, stall, text } from "@banyan/core/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { stored } from "./testing/seen.fixture.ts";
import { serving, temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const say = (words: string) => [{ type: "text", text: words }] as const;

/** A conversation with one completed turn. */
async function spoken(client: TestClient, words: string): Promise<string> {
  const { conversation } = await client.ask("conversation.create", {});
  await client.watch(conversation);
  const before = client.items.filter(({ type }) => type === "run.ended").length;
  await client.ask("turn.say", { conversation, parts: say(words) });
  await client.until(() => client.items.filter(({ type }) => type === "run.ended").length > before);
  return conversation;
}

const chatty = () => scriptedModel((_request, index) => `Answer ${index + 1}.`);

describe("the list of conversations", () => {
  test("B55: lists, finds by id and title, searches all branches, renames, and removes", async () => {
    const { server, store } = await serving({ model: chatty() });
    const client = await TestClient.connect(server);
    const first = await spoken(client, "about badgers");
    const second = await spoken(client, "about otters");
    const { conversations } = await client.ask("conversation.list", {});
    expect(conversations.map(({ id, title }) => [id, title])).toEqual([
      [second, "about otters"],
      [first, "about badgers"],
    ]);
    expect(await client.ask("conversation.list", { limit: 1 })).toMatchObject({ conversations: [{ id: second }] });
    expect(await client.ask("conversation.list", { cwd: "/elsewhere" })).toEqual({ conversations: [] });
    expect(await client.ask("conversation.open", {})).toEqual({ conversation: second, title: "about otters" });
    expect(await client.ask("conversation.open", { named: "badger" })).toMatchObject({ conversation: first });
    await expect(client.ask("conversation.open", { named: "about" })).rejects.toMatchObject({ code: "ambiguous" });
    await expect(client.ask("conversation.open", { named: "moles" })).rejects.toMatchObject({ code: "not-found" });
    const { hits } = await client.ask("conversation.search", { query: "ott" });
    expect(hits).toMatchObject([{ conversation: second, excerpt: "about otters", matches: [[6, 9]] }]);
    const within = await client.ask("conversation.search", { query: "about", conversation: first, limit: 1 });
    expect(within.hits).toMatchObject([{ conversation: first, excerpt: "about badgers" }]);
    await client.ask("conversation.rename", { conversation: first, title: "Badgers" });
    expect(await client.ask("conversation.open", { named: "Badgers" })).toMatchObject({ conversation: first });
    await client.ask("conversation.remove", { conversation: first });
    expect(await client.frame("ended")).toMatchObject({ conversation: first, reason: "removed" });
    await expect(client.ask("feed.subscribe", { conversation: first })).rejects.toMatchObject({ code: "not-found" });
    expect((await store.list()).map(({ id }) => id)).toEqual([second]);
  });

  test("W47: watching clients learn which conversations run, wait, are unread or are removed", async () => {
    const model = scriptedModel([[text("Hm"), stall()], "Two."]);
    const { server } = await serving({ model });
    const [watching, working] = [await TestClient.connect(server), await TestClient.connect(server)];
    await watching.ask("conversation.watch", { on: true });
    const { conversation } = await working.ask("conversation.create", {});
    /** Runs an action, and waits until the client receives its effect. */
    const told = async (client: TestClient, act: () => Promise<unknown>, running: number, unread: number) => {
      const before = client.frames.length;
      await act();
      await client.frame("conversations", (frame) => {
        const isNew = client.frames.indexOf(frame) >= before;
        return (
          isNew && frame.changed.some((it) => it.id === conversation && it.running === running && it.unread === unread)
        );
      });
    };
    await told(watching, () => working.ask("turn.say", { conversation, parts: say("first") }), 1, 0);
    await told(watching, () => working.ask("run.interrupt", { conversation }), 0, 1);
    await told(watching, () => working.ask("conversation.seen", { conversation }), 0, 0);
    await watching.ask("conversation.watch", { on: false });
    const before = watching.frames.length;
    await working.ask("conversation.watch", { on: true });
    await told(working, () => working.ask("turn.say", { conversation, parts: say("second") }), 0, 1);
    await watching.ask("conversation.watch", { on: true });
    expect(watching.frames.slice(before).filter(({ type }) => type === "conversations")).toEqual([]);
    await working.ask("conversation.remove", { conversation });
    await watching.frame("conversations", ({ removed }) => removed.includes(conversation));
  });

  test("W47: unread conversations stay unread after a restart of the server", async () => {
    const state = temporaryDirectory();
    const first = await serving({ model: chatty() }, { state });
    const client = await TestClient.connect(first.server);
    const conversation = await spoken(client, "hello");
    await first.server.stop();
    await first.store.close();
    const second = await serving({ model: chatty() }, { state, directory: first.directory });
    const again = await TestClient.connect(second.server);
    expect(await again.ask("conversation.list", {})).toMatchObject({
      conversations: [{ id: conversation, unread: 1 }],
    });
  });

  test("B60: an unreadable conversation hides no other, and opens with an error", async () => {
    const { server, directory } = await serving({ model: chatty() });
    const client = await TestClient.connect(server);
    const sound = await spoken(client, "sound");
    const damaged = createId();
    writeFileSync(join(directory, "conversations", `${damaged}.sqlite`), "this is no database".repeat(1_000));
    const { conversations } = await client.ask("conversation.list", {});
    expect(conversations.map(({ id }) => id)).toContain(sound);
    await expect(client.ask("feed.subscribe", { conversation: damaged })).rejects.toMatchObject({ code: "damaged" });
    await client.ask("turn.say", { conversation: sound, parts: say("still here?") });
  });
});

describe("export and import", () => {
  test("B56, W46: an imported conversation is unchanged, and gets a new id if the first one exists", async () => {
    const { server } = await serving({ model: chatty() });
    const client = await TestClient.connect(server);
    const conversation = await spoken(client, "hello");
    await client.ask("turn.retry", { conversation });
    await client.until(() => client.items.filter(({ type }) => type === "run.ended").length === 2);
    const json = await client.ask("conversation.export", { conversation, format: "json" });
    expect(json).toMatchObject({ name: `${conversation}.json`, mediaType: "application/json" });
    const markdown = await client.ask("conversation.export", { conversation, format: "markdown" });
    expect(markdown.text).toContain("Answer 2.");
    const { messages } = client.mirrors.get(conversation)?.state ?? { messages: new Map() };
    const leaf = [...messages.keys()][1] as string;
    const branch = await client.ask("conversation.export", { conversation, format: "markdown", leaf });
    expect(branch.text).toContain("Answer 1.");
    expect((await client.ask("conversation.export", { conversation, format: "html" })).text).toContain(
      "<!doctype html>",
    );
    const second = await client.ask("conversation.import", { text: json.text });
    expect(second.conversation).not.toBe(conversation);
    const copy = await client.ask("conversation.export", { conversation: second.conversation, format: "json" });
    // The last event marks the import (S17).
    const [end, ...before] = (withoutIds(copy.text) as { type: string }[]).toReversed();
    expect(before.toReversed()).toEqual(withoutIds(json.text));
    expect(end).toMatchObject({ type: "conversation.brought-in", how: "import" });
    await client.ask("conversation.remove", { conversation });
    expect(await client.ask("conversation.import", { text: json.text })).toEqual({ conversation });
    const wrong = client.ask("conversation.import", { text: "{}" });
    await expect(wrong).rejects.toMatchObject({ code: "invalid" });
  });

  test("W2: context is told part by part", async () => {
    const { server } = await serving({ model: chatty() });
    const client = await TestClient.connect(server);
    const conversation = await spoken(client, "hello");
    expect(await client.ask("context.read", { conversation })).toEqual({
      parts: [{ kind: "conversation", source: "messages", tokens: 2, isExact: false }],
    });
  });
});

describe("F5: a conversation that another program has open", () => {
  test("F5: is refused with the program's name, and opens after the program has closed it", async () => {
    const { server, directory } = await serving({ model: chatty() }, { idle: 1_000 });
    const client = await TestClient.connect(server);
    const conversation = await spoken(client, "hello");
    await client.ask("feed.unsubscribe", { conversation });
    const other = sqliteStore({ directory, program: "another program" });
    onTestFinished(() => other.close());
    // No client needs the conversation, so the server closes it.
    const log = await openedBy(other, conversation);
    const refused = client.ask("feed.subscribe", { conversation });
    await expect(refused).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining("another program"),
    });
    await log.close();
    expect((await client.watch(conversation)).state.messages.size).toBe(2);
    await expect(other.open(conversation)).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining("banyan serve"),
    });
  });

  test("F5: two servers on one directory read all conversations, but neither changes a conversation that the other has open", async () => {
    const one = await serving({ model: chatty() }, { idle: 1_000 });
    const two = await serving({ model: chatty() }, { idle: 1_000, directory: one.directory });
    const [here, there] = [await TestClient.connect(one.server), await TestClient.connect(two.server)];
    const conversation = await spoken(here, "hello");
    expect((await there.ask("conversation.list", {})).conversations).toMatchObject([{ id: conversation }]);
    expect((await there.ask("conversation.search", { query: "hello" })).hits).toMatchObject([{ conversation }]);
    expect((await there.ask("conversation.export", { conversation, format: "markdown" })).text).toContain("hello");
    const locked = { code: "locked", message: expect.stringContaining("banyan serve") };
    await expect(there.ask("feed.subscribe", { conversation })).rejects.toMatchObject(locked);
    await expect(there.ask("turn.say", { conversation, parts: say("and me?") })).rejects.toMatchObject(locked);
    await expect(there.ask("conversation.remove", { conversation })).rejects.toMatchObject(locked);
    await here.ask("feed.unsubscribe", { conversation });
    await expect.poll(() => there.watch(conversation).then(({ state }) => state.messages.size, String)).toBe(2);
    await expect(here.ask("feed.subscribe", { conversation })).rejects.toMatchObject(locked);
  });
});

describe("graceful stop", () => {
  test("a stop interrupts the runs, with their facts in the log, and informs every client", async () => {
    const { server, store } = await serving({ model: scriptedModel([[text("I begin"), stall()]]) });
    const client = await TestClient.connect(server);
    const { conversation } = await client.ask("conversation.create", {});
    await client.watch(conversation);
    await client.ask("turn.say", { conversation, parts: say("go") });
    await client.item("text.delta");
    await server.stop();
    expect(await client.end()).toMatchObject({ code: 1001 });
    expect(client.frames.some(({ type }) => type === "stopping")).toBe(true);
    expect(client.items.at(-1)).toMatchObject({ type: "run.ended", reason: "interrupted" });
    const state = await stored(store, conversation);
    expect(state.runs.size).toBe(0);
    expect([...state.messages.values()].at(-1)).toMatchObject({ finish: "interrupted", parts: say("I begin") });
    await expect(TestClient.connect(server)).rejects.toThrow();
  });
});

async function openedBy(store: ReturnType<typeof sqliteStore>, conversation: string) {
  for (;;) {
    try {
      return await store.open(conversation);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function withoutIds(exported: string): unknown {
  return JSON.parse(exported).events.map(({ id: _, epoch: __, ...event }: { id?: string; epoch: number }) => event);
}

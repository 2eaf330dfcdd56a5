import { setTimeout } from "node:timers/promises";
import { connect } from "@banyan/client/node";
import { createId, isId, Session } from "@banyan/core";
import { ODD_IDS, scriptedModel } from "@banyan/core/testing";
import { serverFrame } from "@banyan/protocol";
import { memoryStore } from "@banyan/store/memory";
import { sqliteStore } from "@banyan/store/sqlite";
import { expect, test } from "vitest";
import { ask } from "./testing/request.fixture.ts";
import { serving, TOKEN } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };

/** The number of random ids besides the odd ones. */
const RANDOM = process.env.BANYAN_LONG ? 200 : 8;

/** Pseudo-random numbers from 0 to 1 for a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random ids, half of them ASCII. */
function randomIds(count: number, seed: number): string[] {
  const random = randomNumbers(seed);
  const ids: string[] = [];
  while (ids.length < count) {
    const bound = random() < 0.5 ? 0x80 : 0x110000;
    const characters = Array.from({ length: 1 + Math.floor(random() * 128) }, () => Math.floor(random() * bound));
    const id = String.fromCodePoint(...characters.filter((code) => code < 0xd800 || code > 0xdfff));
    const shown = id.replaceAll(/\p{Cc}/gu, "");
    if (isId(shown)) ids.push(shown);
  }
  return ids;
}

/** Repeats a request that the server refuses for its rate. */
async function heeding<Answer extends { readonly status: number }>(request: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await request();
    if (answer.status !== 429) return answer;
    await setTimeout(100);
  }
}

test("W80: conversations and messages have a program's own ids at every address and command", async () => {
  const seed = Date.now() % 2 ** 31;
  // A random id of one character may also be an odd one.
  const ids = [...new Set([...ODD_IDS, ...randomIds(RANDOM, seed)])];
  const { server, store, directory } = await serving({ model: scriptedModel([]) });
  const other = await serving({ model: scriptedModel([]) });
  let client = await TestClient.connect(server);
  const join = () => connect({ address: server.address, token: TOKEN, client: "a test" });
  let remote = await join();
  const at = (id: string, rest: string) => `/api/v1/conversations/${encodeURIComponent(id)}/${rest}`;
  for (const [index, conversation] of ids.entries()) {
    const message = createId();
    const below = ids[(index + 1) % ids.length] as string;
    const why = `seed ${seed}: ${JSON.stringify({ conversation, message, below })}`;
    // A new connection, because the server limits the rate per connection.
    if (index % 20 === 0) {
      client = await TestClient.connect(server);
      remote.close();
      remote = await join();
    }
    expect(await client.ask("conversation.create", { conversation }), why).toEqual({ conversation });
    const parts = [{ type: "text", text: "hello" }] as const;
    await client.ask("message.add", { id: message, conversation, parts });
    await client.ask("message.add", { id: below, conversation, parts, at: message });
    await client.ask("message.label", { conversation, message: below, label: "a leaf" });
    expect(await client.ask("conversation.create", { conversation }), why).toEqual({ conversation });
    const mirror = await client.watch(conversation, below);
    expect([mirror.state.id, ...mirror.state.messages.keys()], why).toEqual([conversation, message, below]);
    const { messages } = await client.ask("message.read", { conversation, messages: [below, message, createId()] });
    expect(
      messages.map(({ id }) => id),
      why,
    ).toEqual([below, message]);
    await client.ask("feed.unsubscribe", { conversation });
    // Like `attach`.
    const { conversation: found } = await remote.ask("conversation.open", { named: conversation });
    const watched = await remote.watch(found).loaded;
    expect([watched.id, watched.state.messages.get(below)?.label], why).toEqual([conversation, "a leaf"]);
    await remote.leave(watched);
    // Over HTTP.
    const feed = await heeding(() =>
      fetch(`${server.address}${at(conversation, `feed?leaf=${encodeURIComponent(below)}`)}`, {
        headers: bearer,
      }),
    );
    const { value = "" } = (await feed.body?.pipeThrough(new TextDecoderStream()).getReader().read()) ?? {};
    const frame = serverFrame.parse(JSON.parse(/^data: ([^\n]*)$/m.exec(value)?.[1] ?? "null"));
    expect(frame, why).toMatchObject({ type: "snapshot", conversation, view: below });
    const file = await heeding(() => ask(server.address, at(conversation, "export"), { headers: bearer }));
    expect(file.status, why).toBe(200);
    expect(file.headers["content-disposition"], why).toMatch(
      /^attachment; filename="[\w-][\w.-]*\.json"(?:; filename\*=UTF-8''[\w.%~-]+)?$/,
    );
    const sent = { method: "POST", headers: bearer, body: file.body };
    const brought = await heeding(() => ask(other.server.address, "/api/v1/conversations", sent));
    expect(JSON.parse(brought.body), why).toEqual({ conversation });
  }
  const listed = async () =>
    (await client.ask("conversation.list", { limit: 10_000 })).conversations.map(({ id }) => id).sort();
  expect(await listed()).toEqual([...ids].sort());
  remote.close();
  // Another program opens the stored conversations; a memory store refuses no id.
  await server.stop();
  await store.close();
  const reopened = sqliteStore({ directory });
  const inMemory = memoryStore();
  for (const [index, id] of ids.entries()) {
    await using session = await Session.open(reopened, id);
    expect([...session.state.messages.keys()]).toContain(ids[(index + 1) % ids.length]);
    await using fresh = await Session.open(inMemory, id, { create: true });
    await fresh.say("hello", { id });
    expect(fresh.state.inbox.map((input) => input.id)).toEqual([id]);
  }
  for (const id of ids) await reopened.remove(id);
  expect(await reopened.list()).toEqual([]);
  await reopened.close();
});

test.each(["", ".", "..", "a\u0000b", "a\nb", "\u0085", "\ud800", "a".repeat(129)])(
  "W80: %j is no id: each way says so in a sentence",
  async (id) => {
    const { server } = await serving({ model: scriptedModel([]) });
    const sentence = expect.stringContaining("1 to 128 characters");
    const client = await TestClient.connect(server);
    await expect(client.ask("conversation.create", { conversation: id })).rejects.toMatchObject({
      code: "malformed",
      message: sentence,
    });
    const body = JSON.stringify({ type: "conversation.create", id });
    const answer = await ask(server.address, "/api/v1/commands", { method: "POST", headers: bearer, body });
    expect({ ...answer, ...JSON.parse(answer.body) }).toMatchObject({ status: 400, error: { message: sentence } });
    client.send("conversation.create", { id });
    expect((await client.frame("fault")).message).toContain("1 to 128 characters");
    const store = memoryStore();
    await expect(Session.open(store, id, { create: true })).rejects.toThrow("1 to 128 characters");
    await using session = await Session.open(store);
    await expect(session.say("hello", { id })).rejects.toThrow("1 to 128 characters");
  },
);

import { Client, type ConnectionState, type OpenLink, type WatchedConversation } from "@banyan/client";
import { nodeLink } from "@banyan/client/node";
import { type AgentOptions, defineTool } from "@banyan/core";
import { call, scriptedModel, stall, text } from "@banyan/core/testing";
import { Desk, GUEST } from "@banyan/desk";
import { hostOf } from "@banyan/desk/testing";
import { sqliteStore } from "@banyan/store/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { serving, TOKEN, temporaryDirectory } from "./testing/serving.fixture.ts";

const say = (text: string) => [{ type: "text", text }] as const;

const GUEST_TOKEN = "a-guest-of-a-test-0123456789-0123456789";

/** An agent and the links to it. */
interface There {
  readonly owner: OpenLink;
  readonly guest: OpenLink;
  stop(): Promise<void>;
}

/** A desk that shares its trees with clients that may see everything. */
const sharing = (options: AgentOptions) => inProcess(options, true);

async function inProcess(options: AgentOptions, shares = false): Promise<There> {
  const store = sqliteStore({ directory: temporaryDirectory() });
  const defects: unknown[] = [];
  const desk = new Desk({ host: hostOf(store, options).host, defect: (error) => defects.push(error) });
  onTestFinished(async () => {
    await desk.stop();
    await store.close();
    expect(defects).toEqual([]);
  });
  return { owner: desk.link({ shares }), guest: desk.link({ principal: GUEST, shares }), stop: () => desk.stop() };
}

async function overSocket(options: AgentOptions): Promise<There> {
  const { server } = await serving(options, { guestToken: GUEST_TOKEN });
  const link = (token: string) => nodeLink({ address: server.address, token, client: "a test" });
  return { owner: link(TOKEN), guest: link(GUEST_TOKEN), stop: () => server.stop() };
}

/** Waits until a conversation meets a condition. */
function until(watched: WatchedConversation, is: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    if (is()) resolve();
  };
  const stop = watched.follow({ item: look, renewed: look, stands: look });
  look();
  return promise.finally(stop);
}

async function clientOf(link: OpenLink, states: ConnectionState[] = []): Promise<Client> {
  const client = new Client(link, { changed: (state) => states.push(state) });
  onTestFinished(() => client.close());
  await client.connected();
  return client;
}

describe.each([
  ["in the process", (options: AgentOptions) => inProcess(options)],
  ["in the process, trees shared", sharing],
  ["over a socket", overSocket],
])("H3: a client of a desk %s", (_, open) => {
  test("talks with the agent, and holds what another client holds", async () => {
    const there = await open({ model: scriptedModel(["Hello yourself.", "And again."]) });
    const [client, other] = [await clientOf(there.owner), await clientOf(there.guest)];
    expect(client.welcome).toMatchObject({ agent: "banyan", rights: ["show", "watch", "act"] });
    const { conversation } = await client.ask("conversation.create", {});
    const watched = await client.watch(conversation).loaded;
    await client.ask("turn.say", { conversation, parts: say("hello") });
    await until(watched, () => watched.state.lastRunEnd !== undefined);
    const late = await other.watch(conversation).loaded;
    await late.read();
    await client.ask("turn.say", { conversation, parts: say("again") });
    await until(watched, () => watched.state.messages.size === 4 && watched.state.runs.size === 0);
    await until(late, () => late.state.seq === watched.state.seq);
    expect(late.state.messages).toEqual(watched.state.messages);
    expect([...watched.state.messages.values()].map(({ parts }) => parts)).toMatchObject([
      say("hello"),
      say("Hello yourself."),
      say("again"),
      say("And again."),
    ]);
  });

  test("is asked, and answers; a guest sees the question and may not", async () => {
    const shout = defineTool({
      name: "shout",
      description: "",
      input: { type: "object" },
      effects: "none",
      execute: () => "HEARD",
    });
    const there = await open({
      model: scriptedModel([[call("shout")], "Done."]),
      tools: [shout],
      permission: () => ({ decision: "ask" }),
    });
    const [client, guest] = [await clientOf(there.owner), await clientOf(there.guest)];
    const { conversation } = await client.ask("conversation.create", {});
    const [here, theirs] = [await client.watch(conversation).loaded, await guest.watch(conversation).loaded];
    await client.ask("turn.say", { conversation, parts: say("shout") });
    await until(theirs, () => theirs.state.questions.size === 1);
    const [question = ""] = theirs.state.questions.keys();
    const answer = { decision: "allow" } as const;
    await expect(guest.ask("question.answer", { conversation, question, answer })).rejects.toMatchObject({
      code: "forbidden",
    });
    await client.ask("question.answer", { conversation, question, answer });
    await until(here, () => here.state.runs.size === 0);
    expect(JSON.stringify([...here.state.messages.values()])).toContain("HEARD");
    expect([...here.state.contents.values()].join("")).toContain("shout");
    expect([...theirs.state.contents.values()].join("")).toBe("");
  });

  test("acts once by an id, is told of the list and the settings, and that a conversation is gone", async () => {
    const there = await open({ model: scriptedModel([]) });
    const states: ConnectionState[] = [];
    const client = await clientOf(there.owner, states);
    const conversation = (await client.ask("conversation.create", {}, "once")).conversation;
    expect(await client.ask("conversation.create", {}, "once")).toEqual({ conversation });
    await client.ask("message.add", { conversation, parts: say("a note") });
    await client.ask("approval.use", { mode: "edits" });
    expect(client.welcome.settings.approval).toBe("edits");
    const watched = await client.watch(conversation).loaded;
    await client.ask("conversation.remove", { conversation });
    await until(watched, () => watched.standing === "removed");
    await expect(client.watch("no such conversation").loaded).rejects.toMatchObject({ code: "not-found" });
    await expect(client.ask("turn.retry", { conversation: "no such conversation" })).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("the client learns that the desk has stopped and interrupted the run", async () => {
    const there = await open({ model: scriptedModel([[text("Slowly"), stall()]]) });
    const states: ConnectionState[] = [];
    const client = await clientOf(there.owner, states);
    const { conversation } = await client.ask("conversation.create", {});
    const watched = await client.watch(conversation).loaded;
    await client.ask("turn.say", { conversation, parts: say("hello") });
    await there.stop();
    await expect.poll(() => states.at(-1)?.phase).toMatch(/^(gone|lost)$/);
    expect(watched.state.messages.size).toBeGreaterThan(0);
  });
});

test.each([
  ["in the process", (options: AgentOptions) => inProcess(options)],
  ["over a socket", overSocket],
])("H3: a client %s changes nothing of the conversation by what it does to what it was told", async (_, open) => {
  const there = await open({ model: scriptedModel(["One.", "Two."]) });
  const [client, other] = [await clientOf(there.owner), await clientOf(there.owner)];
  const { conversation } = await client.ask("conversation.create", {});
  const watched = await client.watch(conversation).loaded;
  const parts = [{ type: "text", text: "hello" }];
  await client.ask("turn.say", { conversation, parts: parts as never });
  await until(watched, () => watched.state.lastRunEnd !== undefined);
  (parts[0] as { text: string }).text = "broken";
  for (const message of watched.state.messages.values())
    for (const part of message.parts) if ("text" in part) (part as { text: string }).text = "broken";
  const theirs = await other.watch(conversation).loaded;
  expect(JSON.stringify([...theirs.state.messages.values()])).not.toContain("broken");
});

test("T37: a client with a full reader gets nothing, and later everything that arrived meanwhile", async () => {
  const { host } = hostOf(sqliteStore({ directory: temporaryDirectory() }), { model: scriptedModel(["One.", "Two."]) });
  await using desk = new Desk({ host });
  const free = Promise.withResolvers<void>();
  const reader = { isFull: false, room: () => free.promise };
  const slow = await clientOf(desk.link({ shares: true, reader }));
  const quick = await clientOf(desk.link({ shares: true }));
  const { conversation } = await quick.ask("conversation.create", {});
  const follow = (client: Client) => {
    const types: string[] = [];
    const watched = client.watch(conversation);
    watched.follow({ item: ({ type }) => types.push(type) });
    return { watched, types };
  };
  const [told, all] = [follow(slow), follow(quick)];
  await Promise.all([told.watched.loaded, all.watched.loaded]);
  reader.isFull = true;
  for (const text of ["one", "two"]) {
    await quick.ask("turn.say", { conversation, parts: say(text) });
    await until(all.watched, () => all.watched.state.runs.size === 0);
  }
  const before = told.types.length;
  expect(before).toBeLessThan(all.types.length);
  reader.isFull = false;
  free.resolve();
  await until(told.watched, () => told.types.filter((type) => type === "run.ended").length === 2);
  expect(told.types.filter((type) => !type.endsWith(".delta"))).toEqual(
    all.types.filter((type) => !type.endsWith(".delta")),
  );
});

test("H1: a client in the same process gets the original error of a failed command", async () => {
  const { host } = hostOf(sqliteStore({ directory: temporaryDirectory() }), {
    model: scriptedModel(["One."]),
    limits: { cost: 1 },
  });
  await using desk = new Desk({ host });
  const client = await clientOf(desk.link({ shares: true }));
  const { conversation } = await client.ask("conversation.create", {});
  const refused = await client.ask("turn.say", { conversation, parts: say("hi") }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ name: "ClientError", code: "invalid", cause: { name: "LimitError" } });
});

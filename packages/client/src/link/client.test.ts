import { createId, Session } from "@banyan/core";
import type { Command, ServerFrame, Welcome } from "@banyan/protocol";
import { PROTOCOL, snapshotOf } from "@banyan/protocol/values";
import { beforeEach, expect, test } from "vitest";
import { Client } from "./client.ts";
import type { LinkEvents } from "./link.ts";

const WELCOME: Welcome = {
  type: "welcome",
  protocol: PROTOCOL,
  server: "test 1.0",
  rights: ["watch", "act"],
  agent: "test",
  workspace: "/",
  settings: { model: "test", approval: "ask", sandbox: false, modes: ["ask"], unasked: [], carriedOut: [] },
};

/** Commands sent over the link, whose other end the test holds. */
let sent: Command[];
let link: LinkEvents;
let client: Client;
beforeEach(() => {
  sent = [];
  client = new Client((events) => {
    link = events;
    return { send: (command) => void sent.push(command), retry() {}, close() {} };
  });
});

const types = () => sent.map(({ type }) => type);
const done = (id: string | undefined, result: object) =>
  link.frame({ type: "done", id: id as string, result } as ServerFrame);
const lose = () => {
  sent = [];
  link.down(Date.now() + 100);
};

test("W25: what is asked without a connection goes out with it, and again after each loss until it has an answer", async () => {
  const asked = client.ask("conversation.create", {}, "first");
  expect(sent).toEqual([]);
  link.up(WELCOME);
  expect(sent).toEqual([{ type: "conversation.create", id: "first" }]);
  lose();
  link.up(WELCOME);
  expect(sent).toEqual([{ type: "conversation.create", id: "first" }]);
  done("first", { conversation: "c" });
  expect(await asked).toEqual({ conversation: "c" });
  lose();
  link.up(WELCOME);
  expect(sent).toEqual([]);
});

test("W25: what a server refuses that is about to end goes out again with the next connection", async () => {
  const asked = client.ask("conversation.create", {}, "first");
  const watched = client.watch("c");
  link.up(WELCOME);
  const [subscribed] = sent.filter(({ type }) => type === "feed.subscribe");
  const error = { code: "stopping", message: "This server is stopping." } as const;
  for (const id of ["first", subscribed?.id ?? ""]) link.frame({ type: "failed", id, error });
  expect(watched.standing).toBe("loading");
  lose();
  link.up(WELCOME);
  expect(types()).toEqual(["feed.subscribe", "conversation.create"]);
  // The commands are also sent again to the same server if it stays.
  const [again] = sent;
  for (const id of ["first", again?.id ?? ""]) link.frame({ type: "failed", id, error });
  sent = [];
  await expect.poll(types).toEqual(["conversation.create", "feed.subscribe"]);
  done("first", { conversation: "c" });
  expect(await asked).toEqual({ conversation: "c" });
});

test("W26: a command can be taken back until it has gone out", async () => {
  const kept = client.ask("conversation.create", {}, "kept");
  const back = client.ask("conversation.create", {}, "back");
  expect([client.isSent("back"), client.cancel("back")]).toEqual([false, true]);
  await expect(back).rejects.toMatchObject({ code: "cancelled" });
  link.up(WELCOME);
  expect([client.isSent("kept"), client.cancel("kept")]).toEqual([true, false]);
  done("kept", { conversation: "c" });
  expect(await kept).toEqual({ conversation: "c" });
});

test("F20: a watched conversation goes on behind its cursor when the connection is back, before anything else is asked", async () => {
  const { state, cursor } = Session.inMemory();
  const watched = client.watch("c");
  expect(client.watch("c")).toBe(watched);
  link.up(WELCOME);
  const [first] = sent;
  expect(first).toMatchObject({ type: "feed.subscribe", conversation: "c" });
  expect(first).not.toHaveProperty("from");
  link.frame({ ...snapshotOf(state, { cursor }), conversation: "c" });
  expect(await watched.loaded).toBe(watched);
  lose();
  void client.ask("conversation.list", {}).catch(() => {});
  link.up(WELCOME);
  expect(types()).toEqual(["feed.subscribe", "conversation.list"]);
  expect(sent[0]).toMatchObject({ from: cursor });
});

test("what cannot be watched says why, and is asked for again; what was removed is not", async () => {
  const watched = client.watch("c");
  link.up(WELCOME);
  link.frame({
    type: "failed",
    id: sent[0]?.id as string,
    error: { code: "locked", message: "It is open elsewhere." },
  });
  await expect(watched.loaded).rejects.toMatchObject({ code: "locked" });
  expect(watched.standing).toBe("missing");
  expect(client.watch("c")).toBe(watched);
  expect(watched.standing).toBe("loading");
  const { state, cursor } = Session.inMemory();
  link.frame({ ...snapshotOf(state, { cursor }), conversation: "c" });
  expect(await watched.loaded).toBe(watched);
  link.frame({ type: "ended", conversation: "c", reason: "removed", message: "This conversation was removed." });
  expect(watched).toMatchObject({ standing: "removed", problem: { code: "removed" } });
  lose();
  link.up(WELCOME);
  expect(sent).toEqual([]);
});

test("two who read the same messages ask for them once, and both know them then", async () => {
  const session = Session.inMemory();
  const message = createId();
  const parts = [{ type: "text", text: "hello" }] as const;
  await session.add(parts, { at: null, id: message });
  const watched = client.watch("c");
  link.up(WELCOME);
  link.frame({ ...snapshotOf(session.state, { cursor: session.cursor }), conversation: "c", messages: [] });
  expect(watched.tree?.unread([message])).toEqual([message]);
  const reads = Promise.all([watched.read(), watched.read([message])]);
  const asked = sent.filter(({ type }) => type === "message.read");
  expect(asked).toHaveLength(1);
  done(asked[0]?.id, { messages: [...session.state.messages.values()] });
  await reads;
  expect(watched.state.messages.get(message)).toMatchObject({ parts });
});

test("a client that is closed rejects what has no answer, and what is asked of it later", async () => {
  const asked = client.ask("conversation.list", {});
  client.close();
  await expect(asked).rejects.toMatchObject({ code: "closed" });
  await expect(client.ask("conversation.list", {})).rejects.toMatchObject({ code: "closed" });
  await expect(client.connected()).rejects.toMatchObject({ code: "closed" });
  await expect(client.watch("c").loaded).rejects.toMatchObject({ code: "closed" });
});

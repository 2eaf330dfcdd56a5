import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createId } from "@banyan/core";
import { openHost } from "@banyan/host";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "./server.ts";
import { temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

/** A served host whose commands run unasked, a client that watches a new conversation, and its workspace. */
async function working() {
  const home = temporaryDirectory();
  const cwd = join(home, "workspace");
  mkdirSync(cwd);
  const env = { BANYAN_HOME: join(home, "banyan"), BANYAN_NO_DISCOVERY: "1", PATH: process.env.PATH };
  const flags = { model: "demo/offline", approval: "edits", allow: ["*"] } as const;
  const host = await openHost({ cwd, home, env, flags, canAsk: true });
  const server = await serve({ host });
  onTestFinished(async () => {
    await server.stop();
    await host.close();
  });
  const client = await TestClient.connect(server);
  const { conversation } = await client.ask("conversation.create", {});
  const { state } = await client.watch(conversation);
  let turns = 0;
  const file = (name: string) => join(cwd, name);
  return {
    host,
    cwd,
    client,
    conversation,
    state,
    file,
    stop: () => server.stop(),
    text: (name: string) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : undefined),
    /** Sends a message, and returns the end of the branch after the turn. */
    async say(text: string, at?: string): Promise<string> {
      turns++;
      await client.ask("turn.say", { conversation, parts: [{ type: "text", text }], ...(at !== undefined && { at }) });
      await client.until(() => client.items.filter(({ type }) => type === "run.ended").length === turns);
      return state.leaf ?? "";
    },
  };
}

const listed = (files: readonly { readonly path: string; readonly kind: string; readonly by: string }[]) =>
  files.map(({ path, kind, by }) => `${kind} ${path} ${by}`);

test("E11: files that edits and commands changed are compared and restored, the model is told, and that is undone", async () => {
  const { client, conversation, state, file, text, say } = await working();
  writeFileSync(file("old.txt"), "old\n");
  const oak = await say("create oak.txt with tall and slow");
  await say("run `rm old.txt && mkdir made && echo 1 > made/a.txt`");
  const end = await say("run `echo more >> oak.txt`");
  const before = text("oak.txt");

  const first = await client.ask("file.compare", { conversation, leaf: end, to: oak });
  expect(listed(first.files)).toEqual([
    "created made agent",
    "created made/a.txt agent",
    "changed oak.txt agent",
    "deleted old.txt agent",
  ]);
  expect(first.files[2]?.diff).toContain("+tall and slowmore");
  expect(text("old.txt")).toBeUndefined();

  const asOf = first.asOf ?? 0;
  const done = await client.ask("file.rewind", { conversation, leaf: end, to: oak, asOf });
  expect(done.problems).toEqual([]);
  expect([text("oak.txt"), text("old.txt"), existsSync(file("made"))]).toEqual([
    before?.replace("more\n", ""),
    "old\n",
    false,
  ]);
  const note = state.messages.get(done.message ?? "");
  expect(note).toMatchObject({ role: "user", author: "system", parentId: end });
  expect(JSON.stringify(note)).toContain("old.txt is there again");

  const leaf = done.message ?? "";
  const back = await client.ask("file.compare", { conversation, leaf, undo: true });
  await client.ask("file.rewind", { conversation, leaf, undo: true, asOf: back.asOf ?? 0 });
  expect([text("oak.txt"), text("old.txt"), text("made/a.txt")]).toEqual([before, undefined, "1\n"]);
});

test("E11: to the root, every change of the conversation is compared; without a change there is nothing to restore", async () => {
  const { client, conversation, file, text, say } = await working();
  const hello = await say("hello");
  expect(await client.ask("file.compare", { conversation, leaf: hello })).toEqual({
    files: [],
    leftOut: [],
    processes: 0,
  });
  const leaf = await say("create oak.txt with tall");
  const { asOf = 0, files } = await client.ask("file.compare", { conversation, leaf });
  expect(listed(files)).toEqual(["created oak.txt agent"]);
  const { changes } = await client.ask("file.rewind", { conversation, leaf, asOf });
  expect(changes).toMatchObject([{ path: "oak.txt", kind: "deleted" }]);
  expect(text("oak.txt")).toBeUndefined();
  // The list of changed files knows about the restoration.
  expect(client.items.findLast(({ type }) => type === "file.changed")).toMatchObject({ kind: "deleted" });
  expect(existsSync(file("."))).toBe(true);
});

test("E10: a file that a user changed meanwhile stays, unless the user names it", async () => {
  const { client, conversation, file, text, say } = await working();
  writeFileSync(file("mine.txt"), "mine\n");
  const leaf = await say("create oak.txt with tall");
  writeFileSync(file("oak.txt"), "a user's words\n");
  writeFileSync(file("mine.txt"), "my change\n");
  const { asOf = 0, files } = await client.ask("file.compare", { conversation, leaf });
  expect(listed(files)).toEqual(["changed mine.txt others", "created oak.txt both"]);
  const none = await client.ask("file.rewind", { conversation, leaf, asOf });
  expect([none.changes, text("oak.txt"), text("mine.txt")]).toEqual([[], "a user's words\n", "my change\n"]);
  const named = await client.ask("file.rewind", { conversation, leaf, asOf, paths: ["oak.txt"] });
  expect([named.changes.length, text("oak.txt"), text("mine.txt")]).toEqual([1, undefined, "my change\n"]);
});

test("E11: to a message of another branch, the files are as that branch left them", async () => {
  const { client, conversation, text, say } = await working();
  const start = await say("hello");
  const oak = await say("create oak.txt with tall");
  const more = await say("run `echo more > more.txt`");
  const back = await client.ask("file.compare", { conversation, leaf: more, to: start });
  await client.ask("file.rewind", { conversation, leaf: more, to: start, asOf: back.asOf ?? 0 });
  const fig = await say("run `echo sweet > oak.txt; echo fig > fig.txt`", start);
  const files = () => ["oak.txt", "more.txt", "fig.txt"].map((name) => text(name)?.trim());
  expect(files()).toEqual(["sweet", undefined, "fig"]);

  const there = await client.ask("file.compare", { conversation, leaf: fig, to: more });
  expect(listed(there.files)).toEqual(["created fig.txt agent", "deleted more.txt agent", "changed oak.txt agent"]);
  const go = async (leaf: string, to: string) => {
    const { asOf = 0 } = await client.ask("file.compare", { conversation, leaf, to });
    const { problems } = await client.ask("file.rewind", { conversation, leaf, to, asOf });
    expect(problems).toEqual([]);
    return files();
  };
  expect(await go(fig, more)).toEqual(["tall", "more", undefined]);
  expect(await go(fig, oak)).toEqual(["tall", undefined, undefined]);
  expect(await go(more, fig)).toEqual(["sweet", undefined, "fig"]);
  // A message before the fork, with a branch beside it.
  expect(await go(fig, start)).toEqual([undefined, undefined, undefined]);
});

test("E7: after a process died while it restored files, the log and the model are told at the next opening, once", async () => {
  const { host, cwd, conversation, state, text, say, stop } = await working();
  const leaf = await say("create oak.txt with tall");
  // The other process dies before it writes to the log.
  const { snapshotsOf } = await host.ready();
  const snapshots = snapshotsOf(cwd);
  const [first] = await snapshots.moments(conversation);
  const scope = { conversation, isOwn: () => true };
  const plan = await snapshots.compare(first?.id ?? 0, scope);
  const message = createId();
  await snapshots.restore(plan, scope, undefined, { leaf, message });
  expect([text("oak.txt"), state.messages.has(message)]).toEqual([undefined, false]);
  await stop();
  for (let count = 0; count < 2; count++) {
    await using session = await host.openById(conversation);
    const { messages } = session.state;
    expect(messages.get(message)).toMatchObject({
      parentId: leaf,
      author: "system",
      parts: [{ text: expect.stringContaining("- oak.txt is not there any more") }],
    });
    const calls = messages.values().flatMap((each) => (each.role === "assistant" ? each.calls : []));
    const changes = calls.flatMap((call) => (call.changes ?? []).map(({ kind, path }) => `${kind} ${path}`));
    expect([...changes]).toEqual(["created oak.txt", "deleted oak.txt"]);
  }
});

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createId } from "@banyan/core";
import { callIn } from "@banyan/core/conversation";
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

const withChangers = (
  files: readonly { readonly path: string; readonly changers: readonly { readonly by: string }[] }[],
) => Object.fromEntries(files.map(({ path, changers }) => [path, changers.map(({ by }) => by)]));

test("T66: a comparison has every file that differs, and who changed it; a command's call counts its files", async () => {
  const { client, conversation, state, file, say } = await working();
  writeFileSync(file("mine.txt"), "mine\n");
  await say("create oak.txt with tall");
  await say("run `echo 1 > a.txt && echo 2 > b.txt && mkdir empty && echo more >> oak.txt`");
  writeFileSync(file("mine.txt"), "my change\n");
  const leaf = await say("create fig.txt with small");
  writeFileSync(file("a.txt"), "my line\n");
  const all = await client.ask("file.compare", { conversation, leaf });
  expect(withChangers(all.files.filter(({ entry }) => entry === "file"))).toEqual({
    "a.txt": ["command", "others"],
    "b.txt": ["command"],
    "fig.txt": ["tool"],
    "mine.txt": ["others"],
    "oak.txt": ["tool", "command"],
  });
  const [last] = all.files.flatMap(({ path, changers }) => (path === "a.txt" ? changers : []));
  const call = callIn(state, { call: last?.call ?? "" });
  expect(call).toMatchObject({ tool: "shell", changedFiles: 3 });
  const turn = await client.ask("file.compare", { conversation, leaf, turn: true });
  expect(withChangers(turn.files)).toEqual({ "a.txt": ["others"], "fig.txt": ["tool"] });
  expect(state.messages.get(turn.to ?? "")).toMatchObject({ role: "assistant" });
});

test("T66: with git's last commit, files that changed before the conversation are listed too, and none can be restored", async () => {
  const { client, conversation, file, say } = await working();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@localhost", ...args], { cwd: file(".") });
  for (const name of ["kept.txt", "gone.txt", "ödd name.txt"]) writeFileSync(file(name), "one\ntwo\n");
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "first");
  writeFileSync(file("ödd name.txt"), "one\n3\n");
  writeFileSync(file("staged.bin"), Buffer.from([0, 1, 2]));
  git("add", "staged.bin");
  const leaf = await say("run `rm gone.txt; echo new > new.txt; echo x > ignored.log; echo '*.log' > .gitignore`");
  const asked = client.ask("file.compare", { conversation, leaf, git: true });
  const { asOf, files } = await asked;
  expect(asOf).toBeUndefined();
  expect(files.map(({ path, kind, added, removed, canRestore }) => [path, kind, added, removed, canRestore])).toEqual([
    [".gitignore", "created", 1, 0, false],
    ["gone.txt", "deleted", 0, 2, false],
    ["new.txt", "created", 1, 0, false],
    ["staged.bin", "created", 0, 0, false],
    ["ödd name.txt", "changed", 1, 1, false],
  ]);
  expect(withChangers(files)).toMatchObject({ "gone.txt": ["command"], "new.txt": ["command"], "ödd name.txt": [] });
  expect(files.find(({ path }) => path === "ödd name.txt")?.diff).toBe("@@ -1,2 +1,2 @@\n one\n-two\n+3\n");
  expect(files.find(({ path }) => path === "new.txt")?.diff).toContain("+new");
});

test("T66: turns are taken back one by one, with what their commands did, down to the files before the first", async () => {
  const { client, conversation, file, text, say } = await working();
  const tree = () => ["a.txt", "b.txt", "c/d.txt", "mine.txt"].map(text);
  writeFileSync(file("a.txt"), "0\n");
  const states = [tree()];
  let leaf = "";
  for (const message of [
    "run `echo 1 >> a.txt; mkdir c; echo d > c/d.txt`",
    "create b.txt with one",
    "hello",
    "run `rm a.txt; mv b.txt c/d.txt`",
  ]) {
    leaf = await say(message);
    states.push(tree());
  }
  const undo = async () => {
    const { asOf = 0, to, files } = await client.ask("file.compare", { conversation, leaf, turn: true });
    const paths = files.filter(({ by, canRestore }) => by === "agent" && canRestore).map(({ path }) => path);
    if (paths.length === 0) return false;
    const place = { conversation, leaf, ...(to !== undefined && { to }) };
    const done = await client.ask("file.rewind", { ...place, asOf, paths });
    expect(done.problems).toEqual([]);
    leaf = done.message ?? leaf;
    return true;
  };
  // The greeting changed nothing, so no undo takes it back.
  for (const before of [states[2], states[1], states[0]]) {
    expect(await undo()).toBe(true);
    expect(tree()).toEqual(before);
  }
  expect(await undo()).toBe(false);
  const back = await client.ask("file.compare", { conversation, leaf, undo: true });
  const redone = await client.ask("file.rewind", { conversation, leaf, undo: true, asOf: back.asOf ?? 0 });
  leaf = redone.message ?? leaf;
  expect(tree()).toEqual(states[1]);
  expect(await undo()).toBe(true);
  expect(tree()).toEqual(states[0]);
  writeFileSync(file("mine.txt"), "mine\n");
  expect(await undo()).toBe(false);
  expect(text("mine.txt")).toBe("mine\n");
});

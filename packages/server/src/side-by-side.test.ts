import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newestLeaf, textOf } from "@banyan/core";
import { worktreeAt } from "@banyan/core/conversation";
import { openHost } from "@banyan/host";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "./server.ts";
import { temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

/** A served host whose workspace is a repository with uncommitted changes, and a client that watches a new conversation. */
async function working({ repository = true, approval = "edits" as "edits" | "ask" } = {}) {
  const home = temporaryDirectory();
  const cwd = join(home, "workspace");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "notes.txt"), "one\ntwo\nthree\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@localhost", ...args], { cwd, encoding: "utf8" });
  if (repository) {
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    writeFileSync(join(cwd, "new.txt"), "not committed\n");
  }
  const env = { PATH: process.env.PATH, BANYAN_HOME: join(home, "banyan"), BANYAN_NO_DISCOVERY: "1" };
  mkdirSync(join(env.BANYAN_HOME, "config"), { recursive: true });
  writeFileSync(join(env.BANYAN_HOME, "config/settings.json"), JSON.stringify({ sandbox: { enabled: "off" } }));
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline", approval }, canAsk: true });
  const server = await serve({ host });
  onTestFinished(async () => {
    await server.stop();
    await host.close();
  });
  const client = await TestClient.connect(server);
  const { conversation } = await client.ask("conversation.create", {});
  const { state } = await client.watch(conversation);
  const ended = () => client.items.filter((item) => item.type === "run.ended").length;
  const say = async (text: string, at?: string) => {
    const before = ended();
    await client.ask("turn.say", { conversation, parts: [{ type: "text", text }], ...(at !== undefined && { at }) });
    await client.until(() => ended() === before + 1);
    return state.leaf ?? "";
  };
  const fan = async (text: string, how: { readonly times?: number; readonly worktrees?: boolean } = {}) => {
    const before = ended();
    const asked = await client.ask("branch.fan", { conversation, parts: [{ type: "text", text }], ...how });
    await client.until(() => ended() === before + asked.branches.length);
    return asked;
  };
  const file = (name: string) => join(cwd, name);
  return {
    client,
    conversation,
    state,
    host,
    git,
    file,
    say,
    fan,
    read: (name: string) => readFileSync(file(name), "utf8"),
  };
}

test("C8: the same is asked on three branches at once, each with files of its own, and they stand side by side", async () => {
  const { client, conversation, state, host, git, file, say, fan } = await working();
  const trunk = await say("hello");
  const status = git("status", "--short");
  const { branches, problems } = await fan("create made.txt with some words");
  expect(problems).toEqual([]);
  expect(branches.map(({ worktree }) => worktree)).toEqual(["offline", "offline-2", "offline-3"]);
  expect(existsSync(file("made.txt"))).toBe(false);
  expect(git("status", "--short")).toBe(status);
  for (const { worktree } of branches) {
    const folder = await host.worktrees.folderOf(worktree, conversation);
    expect(readFileSync(join(folder, "made.txt"), "utf8")).toContain("some words");
    expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("not committed\n");
  }
  const compared = await client.ask("branch.compare", { conversation });
  expect(compared.at).toBe(trunk);
  expect(compared.branches).toMatchObject(
    branches.map(({ worktree }) => ({
      name: worktree,
      worktree,
      outcome: "answered",
      models: ["demo/offline"],
      cost: 0,
      files: [{ path: "made.txt", kind: "created", added: 1, removed: 0 }],
    })),
  );
  for (const { time = -1, said } of compared.branches) {
    expect(time).toBeGreaterThanOrEqual(0);
    expect(said).not.toBe("");
  }
  // A branch with a different message is named by the message, and not by the common model.
  await say("and something else", trunk);
  const names = (await client.ask("branch.compare", { conversation })).branches.map(({ name }) => name);
  expect(names).toEqual([...branches.map(({ worktree }) => worktree), "and something else"]);
  // A message on such a branch works in its worktree, and its changes can be undone there.
  const [first] = compared.branches;
  const end = await say("create more.txt with other words", first?.leaf);
  const folder = await host.worktrees.folderOf(first?.worktree, conversation);
  expect([existsSync(join(folder, "more.txt")), existsSync(file("more.txt"))]).toEqual([true, false]);
  const { asOf = 0 } = await client.ask("file.compare", { conversation, leaf: end, to: trunk });
  const reverted = await client.ask("file.rewind", { conversation, leaf: end, to: trunk, asOf });
  expect(reverted.changes.map(({ path }) => path).toSorted()).toEqual(["made.txt", "more.txt"]);
  expect(existsSync(join(folder, "made.txt"))).toBe(false);
  expect(newestLeaf(state, trunk)).not.toBe(trunk);
});

test("T65: branches at the beginning of a conversation fork from a message of the main folder, which gets their changes", async () => {
  const { client, conversation, state, fan, file, read } = await working();
  const { at = "", branches } = await fan("create made.txt with some words", { times: 2 });
  expect(state.messages.get(at)).toMatchObject({ parentId: null, author: "system" });
  expect(worktreeAt(state, at)).toBeUndefined();
  expect(branches.map(({ message }) => worktreeAt(state, message))).toEqual(["offline", "offline-2"]);
  const compared = await client.ask("branch.compare", { conversation, at });
  expect([compared.at, compared.branches.length]).toEqual([at, 2]);
  expect(existsSync(file("made.txt"))).toBe(false);
  await client.ask("branch.bring", { conversation, from: branches[0]?.message ?? "", to: at });
  await client.until(() => existsSync(file("made.txt")) && state.runs.size === 0);
  expect(read("made.txt")).toBe("some words");
});

test("C8: a branch's changes come over as a call that needs approval and can be undone", async () => {
  const { client, conversation, state, host, say, file, read } = await working({ approval: "ask" });
  const trunk = await say("hello");
  const asked = await client.ask("branch.fan", {
    conversation,
    parts: [{ type: "text", text: "hello again" }],
    times: 2,
    worktrees: true,
  });
  await client.until(() => client.items.filter(({ type }) => type === "run.ended").length === 3);
  const [one] = asked.branches;
  const folder = await host.worktrees.folderOf(one?.worktree, conversation);
  writeFileSync(join(folder, "notes.txt"), "ONE\ntwo\nthree\n");
  writeFileSync(join(folder, "made.txt"), "made\n");
  // Meanwhile the user changed another part of the file.
  writeFileSync(file("notes.txt"), "one\ntwo\nTHREE\n");
  const brought = await client.ask("branch.bring", { conversation, from: one?.message ?? "", to: trunk });
  expect(brought).toMatchObject({ files: 2, problems: [] });
  await client.until(() => state.questions.size === 1);
  const [question] = state.questions.values();
  expect(question).toMatchObject({
    type: "approval",
    preview: { changes: [{ path: "made.txt" }, { path: "notes.txt", added: 1, removed: 1 }] },
  });
  expect(read("notes.txt")).toBe("one\ntwo\nTHREE\n");
  await client.ask("question.answer", { conversation, question: question?.id ?? "", answer: { decision: "allow" } });
  await client.until(() => state.runs.size === 0);
  expect([read("notes.txt"), read("made.txt")]).toEqual(["ONE\ntwo\nTHREE\n", "made\n"]);
  const said = state.messages.get(brought.message);
  expect(said && textOf(said)).toMatch(
    /^Brought over from the branch “offline” of this conversation by demo\/offline, as of the message .*The 2 files that it changed are brought over next\.\n\nQuestion on that branch:\nhello again\n\nResult:\n/s,
  );
  expect(said?.parentId).toBe(trunk);
  const leaf = newestLeaf(state, brought.message);
  const end = state.messages.get(leaf);
  const call = [...state.messages.values()]
    .flatMap((message) => (message.role === "assistant" ? message.calls : []))
    .at(-1);
  expect(call).toMatchObject({
    tool: "bring_over",
    status: "completed",
    changes: [{ path: "made.txt" }, { path: "notes.txt" }],
  });
  expect(end && textOf(end)).toContain("created made.txt (+1 -0)\nchanged notes.txt (+1 -1)");
  const undone = await client.ask("file.undo", { conversation, leaf, call: call?.id ?? "" });
  expect(undone.problems).toEqual([]);
  expect([read("notes.txt"), existsSync(file("made.txt"))]).toEqual(["one\ntwo\nTHREE\n", false]);
  // Both changed the same line: the file has both versions between conflict markers.
  writeFileSync(file("notes.txt"), "eins\ntwo\nthree\n");
  const again = await client.ask("branch.bring", {
    conversation,
    from: one?.message ?? "",
    to: newestLeaf(state, leaf),
  });
  await client.until(() => state.questions.size === 1);
  const [asks] = state.questions.values();
  expect(asks).toMatchObject({
    preview: { notes: [expect.stringContaining("1 conflict in notes.txt, which was changed here and in offline")] },
  });
  await client.ask("question.answer", { conversation, question: asks?.id ?? "", answer: { decision: "allow" } });
  await client.until(() => state.runs.size === 0);
  expect(read("notes.txt")).toBe(
    "<<<<<<< here\neins\n||||||| before\none\n=======\nONE\n>>>>>>> offline\ntwo\nthree\n",
  );
  expect(again.files).toBe(2);
  // The cost of the conversation stays known.
  expect(state.cost).toBe(0);
  await expect(
    client.ask("branch.bring", { conversation, from: one?.message ?? "", to: newestLeaf(state, one?.message ?? "") }),
  ).rejects.toThrow("Choose another branch: the source and the target are the same.");
});

test("C8: without a repository the branches share files, with a notice; an unknown model begins no branch", async () => {
  const { client, conversation, state, file, fan } = await working({ repository: false });
  const { branches, problems } = await fan("create made.txt with words", { times: 2 });
  expect(problems).toEqual([
    expect.stringMatching(
      /^All branches change the same files, because worktrees cannot be made: .* is not in a git repository/,
    ),
  ]);
  expect(branches.map(({ worktree }) => worktree)).toEqual([undefined, undefined]);
  expect(existsSync(file("made.txt"))).toBe(true);
  const size = state.messages.size;
  const wrong = { conversation, parts: [{ type: "text", text: "hello" }] as const };
  await expect(client.ask("branch.fan", { ...wrong, models: ["demo/offline", "nobody/x"] })).rejects.toThrow(
    'There is no provider "nobody"',
  );
  await expect(client.ask("branch.fan", { ...wrong, worktrees: true })).rejects.toThrow("is not in a git repository");
  await expect(
    client.ask("branch.fan", { ...wrong, models: ["demo/offline", "demo/offline"], times: 5 }),
  ).rejects.toThrow("This command asks for 10 branches; at most 8 can start at once.");
  await expect(client.ask("worktree.list", {})).rejects.toThrow("is not in a git repository");
  expect(state.messages.size).toBe(size);
});

test("C7: a branch gets a worktree by a command, is told when it is gone, and gives it up", async () => {
  const { client, conversation, host, say, file, git } = await working();
  const trunk = await say("hello");
  const { message, worktree } = await client.ask("worktree.open", { conversation, at: trunk, name: "try this" });
  expect(worktree).toBe("try-this");
  const end = await say("create made.txt with words", message);
  expect(existsSync(file("made.txt"))).toBe(false);
  const { worktrees } = await client.ask("worktree.list", { conversation });
  expect(worktrees).toMatchObject([
    { name: "try-this", conversation, isGone: false, commits: 0, files: [{ path: "made.txt", kind: "created" }] },
  ]);
  await expect(client.ask("worktree.remove", { name: worktree })).rejects.toThrow("has 1 changed file");
  await client.ask("worktree.remove", { name: worktree, changes: true });
  expect(git("branch", "--list", "banyan/*")).toBe("");
  await expect(say("go on", end)).rejects.toThrow("The worktree try-this of this branch no longer exists.");
  const { worktree: other } = await client.ask("worktree.open", { conversation, at: trunk });
  await client.ask("conversation.remove", { conversation });
  await expect(host.worktrees.folderOf(other, conversation)).rejects.toThrow("of this branch no longer exists");
  expect(git("worktree", "list").split("\n").filter(Boolean)).toHaveLength(1);
});

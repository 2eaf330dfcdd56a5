import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testDatabase, whyNoPostgres } from "@banyan/store/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { banyan, home, type Running } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";
import { connected, serving, until } from "../testing/serving.ts";

const words = (text: string) => [{ type: "text", text }] as const;
const COMMAND = "echo ran >> ran.txt";

/** Signals that end a server, in order. */
const ENDS = [["SIGKILL"], ["SIGTERM"], ["SIGINT"], ["SIGTERM", "SIGTERM"]] as const;

async function ended(server: Running, signals: readonly (NodeJS.Signals | undefined)[]): Promise<void> {
  const exit = once(server, "exit");
  for (const signal of signals) if (signal) server.kill(signal);
  await exit;
}

async function model() {
  const made = await modelServer(
    { calls: [{ tool: "shell", input: { command: COMMAND } }] },
    { calls: [{ tool: "ask_client", input: { question: "Which colour?" } }] },
    { text: "All done." },
  );
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

/** Flags for the store: none for files, or an own database of the test. */
async function storeOf(name: "SQLite" | "PostgreSQL"): Promise<readonly string[]> {
  if (name === "SQLite") return [];
  const { url, remove } = await testDatabase();
  onTestFinished(remove);
  return ["--store", url];
}

const STORES = whyNoPostgres === undefined ? (["SQLite", "PostgreSQL"] as const) : (["SQLite"] as const);

describe.each(STORES)("F72: a waiting question survives every end of its server (%s)", (name) => {
  // A database does not distinguish these signals; only a kill leaves a lease.
  const ends = name === "SQLite" || process.env.BANYAN_LONG ? ENDS : ENDS.slice(0, 1);
  test.each(ends)(
    "%s %s: listed by its id before anybody opens it, answered, run once, and the turn ends",
    async (...signals) => {
      using place = home();
      const { env } = await model();
      const store = await storeOf(name);
      const ran = join(place.workspace, "ran.txt");
      const [first, address] = await serving(place, env, ...store);
      const before = await connected(address);
      const { conversation } = await before.ask("conversation.create", {});
      const watched = await before.watch(conversation).loaded;
      await before.ask("turn.say", { conversation, parts: words("Go") });
      await until(watched, () => watched.state.questions.size === 1);
      const [question = ""] = watched.state.questions.keys();
      before.close();
      await ended(first, signals);

      if (name === "SQLite") {
        const listed = await banyan(place, ["conversations", "--waiting"]);
        expect(listed.stdout).toContain(conversation);
        expect(listed.stdout).toContain(`May the agent run shell ${COMMAND}?`);
        const json = await banyan(place, ["conversations", "--waiting", "--output", "json"]);
        expect(JSON.parse(json.stdout)).toMatchObject([{ id: conversation, questions: [{ id: question }] }]);
      }

      const [second, again] = await serving(place, env, ...store);
      const after = await connected(again);
      const { waiting } = await after.ask("question.list", {});
      expect(waiting).toMatchObject([
        { conversation, question: { id: question, type: "approval" }, call: { tool: "shell" } },
      ]);
      const { conversations } = await after.ask("conversation.list", {});
      expect(conversations).toMatchObject([{ id: conversation, waiting: 1 }]);
      expect(await after.ask("question.answer", { conversation, question, answer: { decision: "allow" } })).toEqual({});
      const live = await after.watch(conversation).loaded;
      await until(live, () => [...live.state.questions.values()].some(({ type }) => type === "text"));
      expect(readFileSync(ran, "utf8")).toBe("ran\n");

      // The same turn asks a text question, and its server ends again.
      const [inWords = ""] = live.state.questions.keys();
      after.close();
      await ended(second, signals);
      const [, last] = await serving(place, env, ...store);
      const end = await connected(last);
      expect((await end.ask("question.list", {})).waiting).toMatchObject([
        { question: { id: inWords, text: "Which colour?" } },
      ]);
      const answer = { decision: "answer", text: "blue" } as const;
      expect(await end.ask("question.answer", { conversation, question: inWords, answer })).toEqual({});
      const over = await end.watch(conversation).loaded;
      await until(over, () => over.state.runs.size === 0 && over.state.lastRunEnd === "answered");
      expect(readFileSync(ran, "utf8")).toBe("ran\n");
      expect((await end.ask("question.list", {})).waiting).toEqual([]);
      expect(over.state.waiting.size).toBe(0);
    },
  );

  test("a user who interrupts ends the wait, though nobody has opened the conversation", async () => {
    using place = home();
    const { env } = await model();
    const store = await storeOf(name);
    const [first, address] = await serving(place, env, ...store);
    const before = await connected(address);
    const { conversation } = await before.ask("conversation.create", {});
    const watched = await before.watch(conversation).loaded;
    await before.ask("turn.say", { conversation, parts: words("Go") });
    await until(watched, () => watched.state.questions.size === 1);
    before.close();
    await ended(first, ["SIGTERM"]);
    const [, again] = await serving(place, env, ...store);
    const after = await connected(again);
    expect(await after.ask("run.interrupt", { conversation })).toEqual({ interrupted: 1 });
    expect((await after.ask("question.list", {})).waiting).toEqual([]);
    expect(existsSync(join(place.workspace, "ran.txt"))).toBe(false);
  });
});

test.each([["SIGKILL"], ["SIGTERM"]] as const)(
  "F72, S31: %s: what is asked on a branch with a worktree waits there, and runs in that worktree",
  async (signal) => {
    using place = home();
    const { env } = await model();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=P", "-c", "user.email=p@localhost", ...args], { cwd: place.workspace });
    git("init", "-q");
    git("commit", "-q", "--allow-empty", "-m", "first");
    const [first, address] = await serving(place, env);
    const before = await connected(address);
    const { conversation } = await before.ask("conversation.create", {});
    const { message, worktree } = await before.ask("worktree.open", { conversation, name: "attempt" });
    const watched = await before.watch(conversation).loaded;
    await before.ask("turn.say", { conversation, at: message, parts: words("Go") });
    await until(watched, () => watched.state.questions.size === 1);
    const [question = ""] = watched.state.questions.keys();
    before.close();
    await ended(first, [signal]);

    const [, again] = await serving(place, env);
    const after = await connected(again);
    const [listed] = (await after.ask("worktree.list", {})).worktrees;
    const { folder = "" } = listed ?? {};
    expect(listed).toMatchObject({ name: worktree, conversation });
    expect((await after.ask("question.list", {})).waiting).toMatchObject([
      { conversation, question: { id: question }, call: { tool: "shell", about: { folder } } },
    ]);
    const removed = after.ask("worktree.remove", { name: worktree, changes: true });
    await expect(removed).rejects.toMatchObject({ message: expect.stringContaining("Answer the question") });
    await after.ask("question.answer", { conversation, question, answer: { decision: "allow" } });
    const live = await after.watch(conversation).loaded;
    await until(live, () => [...live.state.questions.values()].some(({ type }) => type === "text"));
    expect(readFileSync(join(folder, "ran.txt"), "utf8")).toBe("ran\n");
    expect(existsSync(join(place.workspace, "ran.txt"))).toBe(false);
  },
);

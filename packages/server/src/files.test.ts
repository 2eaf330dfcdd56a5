import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createId } from "@banyan/core";
import { openHost } from "@banyan/host";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "./server.ts";
import { temporaryDirectory } from "./testing/serving.fixture.ts";
import { TestClient } from "./testing/test-client.fixture.ts";

/** A served host of this machine, a client that watches a new conversation, and its workspace. */
async function working() {
  const home = temporaryDirectory();
  const cwd = join(home, "workspace");
  mkdirSync(cwd);
  const env = { BANYAN_HOME: join(home, "banyan"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline", approval: "edits" }, canAsk: true });
  const server = await serve({ host });
  onTestFinished(async () => {
    await server.stop();
    await host.close();
  });
  const client = await TestClient.connect(server);
  const { conversation } = await client.ask("conversation.create", {});
  const { state } = await client.watch(conversation);
  let turns = 0;
  return {
    client,
    conversation,
    state,
    file: (name: string) => join(cwd, name),
    /** The call that first changed a file. */
    callOf(path: string): string {
      const change = client.items.find((item) => item.type === "file.changed" && item.path === path);
      return change?.type === "file.changed" ? change.call : "";
    },
    /** Sends a message, and returns the end of the branch after the turn. */
    async say(text: string): Promise<string> {
      turns++;
      await client.ask("turn.say", { conversation, parts: [{ type: "text", text }] });
      await client.until(() => client.items.filter(({ type }) => type === "run.ended").length === turns);
      return state.leaf ?? "";
    },
  };
}

test("B31: a call's file changes are undone once; a message below the branch lists exactly these files", async () => {
  const { client, conversation, state, file, say, callOf } = await working();
  const oak = await say("create oak.txt with tall and slow");
  const leaf = await say("create fig.txt with sweet and small");
  const undone = await client.ask("file.undo", { conversation, leaf, call: callOf("oak.txt") });
  expect(undone).toMatchObject({ changes: [{ path: "oak.txt", kind: "deleted", after: null }], problems: [] });
  expect([existsSync(file("oak.txt")), existsSync(file("fig.txt"))]).toEqual([false, true]);
  expect(state.messages.get(undone.message ?? "")).toMatchObject({
    parentId: leaf,
    author: "system",
    parts: [{ text: expect.stringMatching(/undid file changes.*:\n- oak\.txt is not there any more$/) }],
  });
  const again = client.ask("file.undo", { conversation, leaf, call: callOf("oak.txt") });
  expect(await again).toEqual({ changes: [], problems: [] });
  // A call of another branch is not undone here.
  expect(await client.ask("file.undo", { conversation, leaf: oak, call: callOf("fig.txt") })).toMatchObject({
    changes: [],
  });

  writeFileSync(file("fig.txt"), "mine\n");
  expect(await client.ask("file.undo", { conversation, leaf, call: callOf("fig.txt") })).toEqual({
    changes: [],
    problems: [expect.stringContaining("fig.txt was changed again afterwards")],
  });
  const wrong = [
    { leaf: createId(), call: callOf("fig.txt") },
    { leaf, call: "no-call" },
  ];
  for (const names of wrong)
    await expect(client.ask("file.undo", { conversation, ...names })).rejects.toMatchObject({ code: "not-found" });
  for (const names of [{ leaf }, { leaf, call: "" }, { leaf, call: "x".repeat(513) }])
    await expect(client.ask("file.undo", { conversation, ...names } as never)).rejects.toMatchObject({
      code: "malformed",
    });
});

test("T29: files that a working agent builds on are restored only after an interrupt", async () => {
  const { client, conversation, state, file, say, callOf } = await working();
  const root = await say("create oak.txt with tall and slow");
  const call = callOf("oak.txt");
  await client.ask("approval.use", { mode: "ask" });
  // The call waits for approval, and assumes that the file exists.
  await client.ask("turn.say", {
    conversation,
    parts: [{ type: "text", text: "create fig.txt with sweet and small" }],
  });
  await client.until(() => state.questions.size === 1);
  const leaf = state.leaf ?? "";
  for (const at of [leaf, root]) {
    const refused = {
      code: "invalid",
      message: expect.stringMatching(/works on this branch\. Interrupt the agent or wait/),
    };
    await expect(client.ask("file.rewind", { conversation, leaf: at, asOf: 0 })).rejects.toMatchObject(refused);
    await expect(client.ask("file.undo", { conversation, leaf: at, call })).rejects.toMatchObject(refused);
  }
  expect(existsSync(file("oak.txt"))).toBe(true);
  await client.ask("run.interrupt", { conversation });
  await client.until(() => state.runs.size === 0);
  const { changes } = await client.ask("file.undo", { conversation, leaf, call });
  expect(changes).toMatchObject([{ path: "oak.txt", kind: "deleted" }]);
});

test("T29: a restoration refuses unknown messages and wrong fields, and an old client learns that its command is gone", async () => {
  const { client, conversation, file, say } = await working();
  const leaf = await say("create oak.txt with tall and slow");
  const nowhere = createId();
  for (const wrong of [{ leaf: nowhere }, { leaf, to: nowhere }])
    for (const asked of [
      client.ask("file.compare", { conversation, ...wrong }),
      client.ask("file.rewind", { conversation, ...wrong, asOf: 0 }),
    ])
      await expect(asked).rejects.toMatchObject({
        code: "not-found",
        message: `There is no message ${nowhere} in this conversation.`,
      });
  const sent = client.ask("file.rewind", { conversation, leaf, paths: [1], asOf: "now" } as never);
  await expect(sent).rejects.toMatchObject({ code: "malformed" });
  const old = client.ask("file.revert" as never, { conversation, leaf } as never);
  await expect(old).rejects.toMatchObject({ code: "unknown-command" });
  expect(existsSync(file("oak.txt"))).toBe(true);
});

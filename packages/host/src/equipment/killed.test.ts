import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pathTo, textOf } from "@banyan/core";
import { call, checkConversation, scriptedModel } from "@banyan/core/testing";
import { changedFiles } from "@banyan/tools/workspace";
import { expect, onTestFinished, test } from "vitest";
import { openHost } from "../host/open-host.ts";

const PROGRAM = fileURLToPath(new URL("killed-program.fixture.ts", import.meta.url));

test("F21, B24: after a kill, half-applied files match the log and the model's view", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-killed-")));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const cwd = join(home, "project");
  mkdirSync(cwd);
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(cwd, name), "old\n");
  const contents = () => ["a.txt", "b.txt"].map((name) => readFileSync(join(cwd, name), "utf8"));
  const { signal, stderr } = spawnSync(process.execPath, [PROGRAM, home], { encoding: "utf8" });
  expect([signal, stderr]).toEqual(["SIGKILL", ""]);
  expect(contents()).toEqual(["new\n", "old\n"]);

  const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline" }, canAsk: false });
  expect(host.notices.join()).toMatch(
    /A process ended while it wrote a\.txt and b\.txt .* so these changes were undone\./,
  );
  expect(contents()).toEqual(["old\n", "old\n"]);

  const [conversation] = await host.store.list();
  const session = await host.openById(conversation?.id ?? "");
  const model = scriptedModel([[call("read", { path: "a.txt" })], "I see."]);
  await host.agent.with({ model }).send("Go on", { session });
  const path = pathTo(session.state, session.state.leaf);
  expect(path.map(textOf).join("\n")).toContain(
    "whether the message took effect is unknown. Check before you continue.",
  );
  const results = path.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  expect(results.map(({ tool, status }) => [tool, status])).toEqual([
    ["edit_mode", "completed"],
    ["edit_mode", "completed"],
    ["read", "completed"],
  ]);
  expect(results.at(-1)?.output).toContain("old");
  expect([changedFiles(session.state), checkConversation(session.state)]).toEqual([[], []]);
  await session.close();
  await host.close();
});

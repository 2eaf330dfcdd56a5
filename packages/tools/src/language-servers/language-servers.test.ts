import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Tool } from "@banyan/core";
import { call } from "@banyan/core/testing";
import { describe, expect, test, vi } from "vitest";
import { sandboxOf, whyNoSandbox } from "../sandbox/sandbox.fixture.ts";
import { living } from "../workspace/commands/processes.fixture.ts";
import { arm, block, play } from "../workspace/edit-mode/play.fixture.ts";
import { openWorkspace, workspaceTools } from "../workspace/index.ts";
import { call as callTool, TestFolder } from "../workspace/test-folder.fixture.ts";
import { LanguageServers } from "./language-servers.ts";
import { NO_SANDBOX, oak, oakServers } from "./oak.fixture.ts";
import type { ServerKind } from "./server-table.ts";

/** A busy machine starts a server slowly. */
const PATIENT = { patience: 20_000 };
const HEAD = "New problems after this change, from language servers:";
/** Each call is in a turn of its own. */
const execute = (tool: Tool, input: object) => callTool(tool, { ...input }, { call: randomUUID() });
const edit = (old_text: string, new_text: string, path = "a.oak") => ({ path, old_text, new_text });

describe.each([
  ["publishes problems", {}],
  ["publishes changes only", { onlyChanges: true }],
  ["answers requests", { pulls: true }],
])("E1: with a server that %s", (_, options) => {
  test("an edit reports the new problem, once, and no old one", async () => {
    using folder = new TestFolder({ "a.oak": "bad old\none\ntwo\n" });
    await using servers = oakServers(folder, options, PATIENT);
    const tool = servers.tool("edit");
    expect(await execute(tool, edit("one", "bad new"))).toMatch(`\n\n${HEAD}\na.oak:2: error: new is bad [oak bad]`);
    expect(await execute(tool, edit("two", "odd three"))).toMatch(
      new RegExp(`\n\n${HEAD}\na.oak:3: warning: three is odd \\[oak odd\\]$`),
    );
    expect(await execute(tool, edit("odd three", "zero\nodd three"))).not.toContain(HEAD);
    expect(await execute(tool, edit("bad new\n", ""))).not.toContain(HEAD);
    expect(await execute(tool, edit("zero", "bad new"))).toContain("a.oak:2: error: new is bad");
  });

  test("a change reports the new problem in another file", async () => {
    using folder = new TestFolder({ "a.oak": "has leaf\n", "b.oak": "one\n" });
    await using servers = oakServers(folder, options, PATIENT);
    expect(await execute(servers.tool("edit"), edit("one", "uses leaf", "b.oak"))).not.toContain(HEAD);
    const said = await execute(servers.tool("edit"), edit("has leaf", "has stem"));
    expect(said).toContain(`${HEAD}\nb.oak:1: error: leaf is not there [oak uses]`);
  });

  test("a new file, and a change outside of the tools, are the baseline for the next edit", async () => {
    using folder = new TestFolder();
    await using servers = oakServers(folder, options, PATIENT);
    const said = await execute(servers.tool("write"), { path: "a.oak", content: "bad one\n" });
    expect(said).toContain(`${HEAD}\na.oak:1: error: one is bad`);
    writeFileSync(folder.path("a.oak"), "bad two\nthree\n");
    expect(await execute(servers.tool("edit"), edit("three", "bad four"))).toMatch(
      new RegExp(`${HEAD}\na.oak:2: error: four is bad \\[oak bad\\]$`),
    );
  });
});

test("E1: the report about applied blocks has the new problems of all files together", async () => {
  using folder = new TestFolder({ "a.oak": "bad old\none\n", "b.oak": "two\n" });
  await using servers = oakServers(folder, { pulls: true }, PATIENT);
  const blocks = `${block("oak:a.oak:2:3", "uses leaf", "bad new")}\n${block("oak:b.oak:1:2", "has leaf")}`;
  const { said } = await play(folder, [arm("a.oak", "b.oak"), blocks, "Done."], { tools: servers.tools });
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(/^All blocks were applied\./);
  expect(said[0]).toContain(`${HEAD}\na.oak:3: error: new is bad [oak bad]`);
  expect(said[0]).not.toMatch(/leaf|old/);
});

test("E1: a later problem comes with the next step", async () => {
  using folder = new TestFolder({ "a.oak": "one\n" });
  await using servers = oakServers(folder, { pulls: true, delay: 1_300 });
  const script = [[call("edit", edit("one", "bad two"))], [call("shell", { command: "sleep 1.5" })], "Done.", "I see."];
  const { said, results, asked } = await play(folder, script, { tools: servers.tools });
  expect(results.join()).not.toContain(HEAD);
  expect(said).toEqual([`${HEAD}\na.oak:1: error: two is bad [oak bad]`]);
  expect(asked).toBe(4);
});

test("E1: a problem that is found after a turn comes with the next change in the conversation", async () => {
  using folder = new TestFolder({ "a.oak": "one\n" });
  await using servers = oakServers(folder, { pulls: true, delay: 1_300 });
  const first = await play(folder, [[call("edit", edit("one", "bad two"))], "Done."], { tools: servers.tools });
  expect([...first.results, ...first.said].join()).not.toContain(HEAD);
  await sleep(2_000);
  const { session } = first;
  const script = [[call("edit", edit("bad two", "bad two\nthree"))], "Done.", "Done."];
  const second = await play(folder, script, { tools: servers.tools, session });
  expect(second.results.at(-1)).toContain(`${HEAD}\na.oak:1: error: two is bad [oak bad]`);
});

test("E1: a problem reaches only the conversation whose call made it", async () => {
  using folder = new TestFolder({ "a.oak": "one\n", "b.oak": "one\n" });
  await using servers = oakServers(folder, { pulls: true }, PATIENT);
  const first = await play(folder, [[call("edit", edit("one", "bad a"))], "Done."], { tools: servers.tools });
  const second = await play(folder, [[call("edit", edit("one", "bad b", "b.oak"))], "Done."], { tools: servers.tools });
  expect(first.results.join()).toContain("a is bad");
  expect(second.results.join()).toContain("b is bad");
  expect(second.results.join()).not.toContain("a is bad");
});

test("E6: without a server for a file, nothing starts, and results stay the same", async () => {
  using folder = new TestFolder({ "a.elm": "one\n", "a.ts": "one\n", "a.oak": "one\n" });
  const mark = randomUUID();
  await using servers = oakServers(folder, { mark });
  await using none = new LanguageServers({
    workspace: openWorkspace(folder.root),
    sandbox: NO_SANDBOX,
    env: { PATH: "" },
  });
  const plain = workspaceTools({ root: folder.root });
  const checked = none.checked(plain);
  expect(checked.map(({ execute: _, ...tool }) => tool)).toEqual(plain.map(({ execute: _, ...tool }) => tool));
  for (const tool of checked) if (tool.files !== "write") expect(plain).toContain(tool);
  expect(await execute(servers.tool("read"), { path: "a.oak" })).toContain("one");
  expect(await execute(servers.tool("edit"), edit("one", "bad", "a.elm"))).not.toContain(HEAD);
  const [tool] = checked.filter(({ name }) => name === "edit");
  expect(tool && (await execute(tool, edit("one", "bad", "a.ts")))).not.toContain(HEAD);
  expect(living(mark)).toEqual([]);
  await execute(servers.tool("edit"), edit("one", "two"));
  expect(living(mark)).toHaveLength(1);
});

test("E2: a server that cannot start is reported once, by its state and to the program", async () => {
  using folder = new TestFolder({ "a.oak": "one\n" });
  const failures: string[] = [];
  const failed = (name: string, why: string) => void failures.push(`${name}: ${why}`);
  const [workspace, sandbox] = [openWorkspace(folder.root), NO_SANDBOX];
  await using servers = new LanguageServers({ workspace, sandbox, known: [oak({ hostile: "exits" })], failed });
  expect(servers.states).toEqual([{ name: "oak", status: "waiting" }]);
  const [tool] = servers.checked(workspaceTools({ root: folder.root }).filter(({ name }) => name === "edit"));
  const words = ["one", "two", "three", "four", "five", "six"];
  for (const [at, word] of words.slice(1).entries()) await execute(tool as Tool, edit(words[at] ?? "", word));
  await vi.waitFor(() => expect(failures).toHaveLength(1), 10_000);
  expect(servers.states).toEqual([{ name: "oak", status: "failed", reason: expect.any(String) }]);
  expect(failures[0]).toMatch(/^oak: /);
});

test("E5, E6: servers are useful only if one is installed for a file of the workspace", async () => {
  using folder = new TestFolder({ "sub/deep/a.oak": "one\n", "node_modules/b.elm": "one\n" });
  const [workspace, sandbox] = [openWorkspace(folder.root), NO_SANDBOX];
  const { commands } = oak();
  for (const [known, isUseful] of [
    [oak(), true],
    [{ name: "elm", files: { ".elm": "elm" }, commands }, false],
    [{ name: "oak", files: { ".oak": "oak" }, commands: [["no-such-program"]] }, false],
  ] as const) {
    await using servers = new LanguageServers({ workspace, sandbox, known: [known as ServerKind] });
    expect(await servers.areUseful()).toBe(isUseful);
  }
});

const why = await whyNoSandbox();

test.skipIf(why !== undefined)(
  "E2: a server runs in the sandbox, without secrets, and ends with the session",
  async () => {
    using folder = new TestFolder({ "a.oak": "one\n" });
    const mark = randomUUID();
    vi.stubEnv("OAK_TOKEN", "abc");
    await using sandbox = await sandboxOf(folder);
    for (const [tells, value] of [
      ["BANYAN_IN_SANDBOX", "1"],
      ["OAK_TOKEN", "undefined"],
    ] as const) {
      await using servers = oakServers(folder, { mark, tells }, { ...PATIENT, sandbox });
      const said = await execute(servers.tool("write"), { path: `${value}.oak`, content: "one\n" });
      expect(said).toContain(`${tells} is ${value}`);
      expect(living(mark).length).toBeGreaterThan(0);
    }
    await vi.waitFor(() => expect(living(mark)).toEqual([]), 5_000);
    vi.unstubAllEnvs();
  },
);

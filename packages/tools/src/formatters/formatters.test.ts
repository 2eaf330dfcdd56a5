import { randomUUID } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyConversation, type Tool } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import { isAppliedReport } from "@banyan/core/shown";
import { call } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { NO_SANDBOX, oakServers } from "../language-servers/oak.fixture.ts";
import { arm, block, play } from "../workspace/edit-mode/play.fixture.ts";
import { openWorkspace, workspaceTools } from "../workspace/index.ts";
import { call as callTool, TestFolder } from "../workspace/test-folder.fixture.ts";
import type { FormatterKind } from "./formatter-table.ts";
import { type FormatterFailure, Formatters } from "./formatters.ts";

const PROGRAM = fileURLToPath(new URL("oak-format.fixture.ts", import.meta.url));

function oakFormat(options: object = {}): FormatterKind {
  return {
    name: "oak-format",
    files: [".oak"],
    configuration: ["oak-format.json"],
    named: /\boak-format\b/,
    command: [process.execPath, PROGRAM, JSON.stringify(options), "{path}"],
  };
}

function formattersIn(folder: TestFolder, options: object = {}) {
  const backups = folder.path("../backups");
  const around = { workspace: openWorkspace(folder.root), sandbox: NO_SANDBOX, backups };
  const failed: FormatterFailure[] = [];
  const formatters = new Formatters({
    ...around,
    known: [oakFormat(options)],
    failed: (failure) => failed.push(failure),
  });
  const tools = formatters.formatting(workspaceTools({ root: folder.root, backups }));
  return { tools, formatters, failed, [Symbol.asyncDispose]: () => formatters[Symbol.asyncDispose]() };
}

async function edit(tools: readonly Tool[], input: object, conversation = emptyConversation()) {
  const changes: FileChange[] = [];
  const tool = tools.find(({ name }) => name === "edit") as Tool;
  const changed = async (change: FileChange) => void changes.push(change);
  return { said: await callTool(tool, { ...input }, { call: randomUUID(), conversation, changed }), changes };
}

const ONE = { path: "sub/a.oak", old_text: "one", new_text: "two  " };

test("E4: a changed file is formatted, and the difference is a change of its own that names the formatter", async () => {
  using folder = new TestFolder({ "oak-format.json": "{}", "sub/a.oak": "one\n" });
  await using own = formattersIn(folder);
  const { said, changes } = await edit(own.tools, ONE);
  expect(folder.read("sub/a.oak")).toBe("two\n");
  expect(changes.map(({ formatter, added, removed }) => ({ formatter, added, removed }))).toEqual([
    { formatter: undefined, added: 1, removed: 1 },
    { formatter: "oak-format", added: 1, removed: 1 },
  ]);
  expect(changes[1]?.before).toBe(changes[0]?.after);
  expect(said).toMatch(/\n\noak-format formatted sub\/a\.oak:\n[\s\S]*\n-two {2}\n\+two/);
  // Both earlier contents are kept for undo.
  const kept = readdirSync(folder.path("../backups")).filter((name) => /^[0-9a-f]{64}$/.test(name));
  expect(kept).toEqual(expect.arrayContaining(changes.map(({ before }) => before)));
});

test("E4: blocks of edit mode are formatted, and the report still only lists changes", async () => {
  using folder = new TestFolder({ "package.json": '{ "scripts": { "f": "oak-format" } }', "a.oak": "one\n" });
  await using own = formattersIn(folder);
  const blocks = block("oak:a.oak:1:2", "two  ", "bad three ");
  const { said, session } = await play(folder, [arm("a.oak"), blocks, "Done."], { tools: own.tools });
  expect(folder.read("a.oak")).toBe("two\nbad three\n");
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("\n\noak-format formatted a.oak:\n");
  expect(isAppliedReport(said[0] ?? "")).toBe(true);
  const calls = [...session.state.messages.values()].flatMap((each) => ("calls" in each ? each.calls : []));
  expect(calls.flatMap(({ changes = [] }) => changes.map(({ formatter }) => formatter))).toEqual([
    undefined,
    "oak-format",
  ]);
});

test("E1, E4: language servers check the formatted file", async () => {
  using folder = new TestFolder({ "oak-format.json": "{}", "a.oak": "one\n" });
  await using own = formattersIn(folder);
  await using servers = oakServers(folder, { pulls: true }, { patience: 20_000 });
  const checked = servers.checked(own.tools);
  const { said } = await edit(checked, { path: "a.oak", old_text: "one", new_text: "bad two  " });
  expect(said.split("\n").filter((line) => line.includes("error"))).toEqual(["a.oak:1: error: two is bad [oak bad]"]);
});

test("E4: a formatter runs only for files of its kind, in a project that uses it", async () => {
  using folder = new TestFolder({ "sub/a.oak": "one\n", "a.elm": "one\n", "other/oak-format.json": "{}" });
  const starts = folder.path("../starts");
  await using own = formattersIn(folder, { starts });
  expect((await edit(own.tools, ONE)).changes).toHaveLength(1);
  folder.add("oak-format.json", "{}");
  expect((await edit(own.tools, { ...ONE, path: "a.elm" })).changes).toHaveLength(1);
  expect(existsSync(starts)).toBe(false);
  expect((await edit(own.tools, { ...ONE, old_text: "two", new_text: "three " })).changes).toHaveLength(2);
});

test.each([
  ["hangs", "it took longer than 2 seconds"],
  ["fails", "it ended with exit code 1; its last output: no oak here"],
  ["floods", "it wrote far more than it read"],
  ["empties", "it wrote nothing"],
])(
  "E4: a formatter that %s leaves the file as the tool wrote it, after at most two seconds, and is reported",
  async (hostile, reason) => {
    using folder = new TestFolder({ "oak-format.json": "{}", "sub/a.oak": "one\n" });
    await using own = formattersIn(folder, { hostile });
    const { said, changes } = await edit(own.tools, ONE);
    expect(folder.read("sub/a.oak")).toBe("two  \n");
    expect(changes).toHaveLength(1);
    expect(said).not.toContain("formatted");
    expect(own.failed).toEqual([{ name: "oak-format", path: "sub/a.oak", reason }]);
    expect(own.formatters.failures).toEqual(own.failed);
  },
);

test("E4: a formatter that fails is reported once in each conversation, and is a failure until it works again", async () => {
  using folder = new TestFolder({ "oak-format.json": "{}", "sub/a.oak": "one\n" });
  await using own = formattersIn(folder, { failing: "bad" });
  const change = (old_text: string, new_text: string, conversation?: string) =>
    edit(own.tools, { path: "sub/a.oak", old_text, new_text }, { ...emptyConversation(), id: conversation ?? "first" });
  await change("one", "bad 1");
  await change("bad 1", "bad 2");
  expect(own.failed).toHaveLength(1);
  await change("bad 2", "bad 3", "second");
  expect(own.failed).toHaveLength(2);
  expect(own.formatters.failures).toHaveLength(1);
  await change("bad 3", "good");
  expect(own.formatters.failures).toEqual([]);
});

test("E4: a file that another program changes meanwhile stays as that program wrote it", async () => {
  using folder = new TestFolder({ "oak-format.json": "{}", "sub/a.oak": "one\n" });
  await using own = formattersIn(folder);
  const tool = own.tools.find(({ name }) => name === "edit") as Tool;
  const changed = async () => void folder.add("sub/a.oak", "mine  \n");
  await callTool(tool, { ...ONE }, { call: randomUUID(), changed });
  expect(folder.read("sub/a.oak")).toBe("mine  \n");
});

test("E4: two calls of one message format their files one after the other", async () => {
  using folder = new TestFolder({ "oak-format.json": "{}", "a.oak": "one\n", "b.oak": "one\n" });
  await using own = formattersIn(folder);
  const input = (path: string) => ({ path, old_text: "one", new_text: "two " });
  await play(folder, [[call("edit", input("a.oak")), call("edit", input("b.oak"))], "Done."], { tools: own.tools });
  expect([folder.read("a.oak"), folder.read("b.oak")]).toEqual(["two\n", "two\n"]);
});

const bin = fileURLToPath(new URL("../../../../node_modules/.bin", import.meta.url));
const PATH = [bin, process.env.PATH].join(delimiter);
const isThere = (name: string) =>
  PATH.split(delimiter).some((folder) => isAbsolute(folder) && existsSync(join(folder, name)));

/** Programs of this machine, each with a project that names the program. */
const REAL = [
  { name: "biome", settings: "biome.json", file: "a.json", before: '{"a":1}\n', after: '{ "a": 1 }\n' },
  { name: "gofmt", settings: "go.mod", file: "a.go", before: "package  a\n", after: "package a\n" },
  { name: "rustfmt", settings: "rustfmt.toml", file: "a.rs", before: "fn  f() {}\n", after: "fn f() {}\n" },
] as const;

test.each(REAL.filter(({ name }) => isThere(name)))("E4: $name formats a file", async (real) => {
  const settings = real.settings === "biome.json" ? "{}" : "";
  using folder = new TestFolder({ [real.settings]: settings, [real.file]: "old\n" });
  await using own = new Formatters({
    workspace: openWorkspace(folder.root),
    sandbox: NO_SANDBOX,
    env: { ...process.env, PATH },
  });
  const tools = own.formatting(workspaceTools({ root: folder.root }));
  await edit(tools, { path: real.file, old_text: "old\n", new_text: real.before });
  expect(folder.read(real.file)).toBe(real.after);
});

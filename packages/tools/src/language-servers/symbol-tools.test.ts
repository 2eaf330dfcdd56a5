import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import type { Tool, ToolContext } from "@banyan/core";
import type { FileChange } from "@banyan/core/conversation";
import { jsonSchemaOf } from "@banyan/core/hosts";
import { expect, test } from "vitest";
import { openWorkspace } from "../workspace/index.ts";
import { call as callTool, TestFolder } from "../workspace/test-folder.fixture.ts";
import { LanguageServers } from "./language-servers.ts";
import { NO_SANDBOX, oak } from "./oak.fixture.ts";
import type { OakOptions } from "./oak-server.fixture.ts";
import { symbolTools } from "./symbol-tools.ts";

const FILES = { "a.oak": "has leaf\nbad one\n", "b.oak": "one\nuses leaf\nuses stem\n", "sub/c.txt": "leaf\n" };
const place = { path: "b.oak", line: 2, name: "leaf" };

function toolsIn(folder: TestFolder, options: OakOptions = {}, secret?: string) {
  const whyNotRead = (path: string) => (path === secret ? "it is secret" : undefined);
  const workspace = openWorkspace(folder.root, [], whyNotRead);
  const servers = new LanguageServers({ workspace, sandbox: NO_SANDBOX, known: [oak({ pulls: true, ...options })] });
  const tools = symbolTools(workspace, servers, { backups: folder.path("../backups") });
  const named = (name: string) => tools.find((tool) => tool.name === name) as Tool;
  return {
    named,
    run: (name: string, input: object, context: Partial<ToolContext> = {}) =>
      callTool(named(name), { ...input }, { call: randomUUID(), ...context }),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  };
}

test("E5: diagnostics lists all problems of a file, and of a folder", async () => {
  using folder = new TestFolder(FILES);
  await using tools = toolsIn(folder);
  expect(await tools.run("diagnostics", { path: "a.oak" })).toBe("a.oak:2: error: one is bad [oak bad]");
  const all = await tools.run("diagnostics", { path: "." });
  expect(all.split("\n")).toEqual([
    "a.oak:2: error: one is bad [oak bad]",
    "b.oak:3: error: stem is not there [oak uses]",
  ]);
  await expect(tools.run("diagnostics", { path: "sub" })).rejects.toThrow("No language server checks sub.");
});

test("E5: symbol finds the definition, the references and the docs of a name", async () => {
  using folder = new TestFolder(FILES);
  await using tools = toolsIn(folder);
  expect(await tools.run("symbol", place)).toBe("a.oak:1: has leaf");
  expect(await tools.run("symbol", { ...place, find: "definition" })).toBe("a.oak:1: has leaf");
  expect(await tools.run("symbol", { ...place, find: "references" })).toBe("a.oak:1: has leaf\nb.oak:2: uses leaf");
  expect(await tools.run("symbol", { ...place, find: "hover" })).toBe("leaf of leaf");
  const wrong = tools.run("symbol", { ...place, line: 1, find: "hover" });
  await expect(wrong).rejects.toThrow("Line 1 of b.oak does not contain leaf.");
});

test("E5, S21: symbol shows no line of a file that must not be read", async () => {
  using folder = new TestFolder(FILES);
  await using tools = toolsIn(folder, {}, "a.oak");
  expect(await tools.run("symbol", { ...place, find: "definition" })).toBe("a.oak:1");
  await expect(tools.run("symbol", { path: "a.oak", line: 1, name: "leaf", find: "hover" })).rejects.toThrow("secret");
});

test("E5: a rename changes all files as one change, which its preview shows", async () => {
  using folder = new TestFolder(FILES);
  await using tools = toolsIn(folder);
  const input = { ...place, rename_to: "bough" };
  const preview = await tools.named("symbol").preview?.(input, { signal: new AbortController().signal } as never);
  expect(preview?.changes?.map(({ path, diff }) => [path, diff.includes("bough")])).toEqual([
    ["a.oak", true],
    ["b.oak", true],
  ]);
  expect(folder.read("a.oak")).toBe(FILES["a.oak"]);
  const changes: FileChange[] = [];
  const context = { agreed: preview, changed: async (change: FileChange) => void changes.push(change) };
  const said = await tools.run("symbol", input, context);
  expect(said).toMatch(/^Renamed leaf to bough in 2 files\./);
  // Both files changed together, so no problem is new.
  expect(said).not.toContain("New problems");
  expect(changes.map(({ path, before, after }) => ({ path, before, after }))).toEqual(
    preview?.changes?.map(({ path, before, after }) => ({ path, before, after })),
  );
  expect(folder.read("a.oak")).toBe("has bough\nbad one\n");
  expect(folder.read("b.oak")).toBe("one\nuses bough\nuses stem\n");
  expect(readdirSync(folder.path("../backups")).filter((name) => /^[0-9a-f]{64}$/.test(name))).toHaveLength(2);
});

test("E5: a rename that differs from the approved one changes nothing", async () => {
  using folder = new TestFolder(FILES);
  await using tools = toolsIn(folder);
  const input = { ...place, rename_to: "bough" };
  const agreed = await tools.named("symbol").preview?.(input, { signal: new AbortController().signal } as never);
  folder.add("d.oak", "uses leaf\n");
  await expect(tools.run("symbol", input, { agreed })).rejects.toThrow("has changed since the user allowed");
  expect(folder.read("a.oak")).toBe(FILES["a.oak"]);
});

test("E5: a rename without a question needs the right to write each file", async () => {
  using folder = new TestFolder(FILES);
  await using tools = toolsIn(folder);
  const permit = async () => ({ decision: "ask", reason: "writes" }) as const;
  await expect(tools.run("symbol", { ...place, rename_to: "bough" }, { permit })).rejects.toThrow("a.oak");
  expect(folder.read("b.oak")).toBe(FILES["b.oak"]);
});

test("E5: a server that would change files elsewhere, or does not answer, changes nothing", async () => {
  using folder = new TestFolder(FILES);
  await using lies = toolsIn(folder, { renamesElsewhere: true });
  const input = { ...place, rename_to: "bough" };
  await expect(lies.run("symbol", input)).rejects.toThrow("outside of the workspace");
  await using exits = toolsIn(folder, { hostile: "exits" });
  await expect(exits.run("symbol", input)).rejects.toThrow("The language server cannot answer");
  expect(folder.read("b.oak")).toBe(FILES["b.oak"]);
});

test("E5: a call that is cancelled ends at once", async () => {
  using folder = new TestFolder(FILES);
  await using mute = toolsIn(folder, { hostile: "mute" });
  const signal = AbortSignal.timeout(200);
  await expect(mute.run("symbol", { ...place, find: "hover" }, { signal })).rejects.toThrow(/abort|timeout/i);
});

test("E5: a server that is still loading delays a call for a limited time, and answers a later call", async () => {
  using folder = new TestFolder(FILES);
  const around = { workspace: openWorkspace(folder.root), sandbox: NO_SANDBOX };
  await using mute = new LanguageServers({ ...around, known: [oak({ hostile: "mute" })] });
  const { signal } = new AbortController();
  const loading = "the server is still loading the project; try again later";
  await expect(mute.inspect("a.oak", 200, signal)).rejects.toThrow(loading);
  const params = { position: { line: 1, character: 5 } };
  await expect(mute.ask("b.oak", FILES["b.oak"], "textDocument/hover", params, 200, signal)).rejects.toThrow(loading);
  await using slow = new LanguageServers({ ...around, known: [oak({ pulls: true })] });
  await expect(slow.inspect("a.oak", 1, signal)).rejects.toThrow(loading);
  expect(await slow.inspect("a.oak", 20_000, signal)).toHaveLength(1);
});

test("E5: the two tools add at most 600 bytes to a request", async () => {
  using folder = new TestFolder(FILES);
  await using tools = toolsIn(folder);
  // The longest form of the providers' formats.
  const listed = ["diagnostics", "symbol"].map((name) => {
    const { description, input } = tools.named(name);
    return { type: "function", function: { name, description, parameters: jsonSchemaOf(name, input) } };
  });
  expect(JSON.stringify(listed).length).toBeLessThanOrEqual(600);
});

import { Agent } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { expect, test } from "vitest";
import { searchTool } from "../search/search.ts";
import { TestFolder } from "../test-folder.fixture.ts";
import { listTool } from "./list.ts";
import { openWorkspace } from "./paths.ts";

test.each([
  ["list", {}],
  ["list", { path: "" }],
  ["list", { path: null, depth: null }],
  ["search", { pattern: "needle" }],
  ["search", { pattern: "needle", path: "" }],
  ["search", { pattern: "needle", path: null, glob: null }],
])("B82: %s with %j is about the workspace, and rules judge the workspace", async (tool, input) => {
  using folder = new TestFolder({ "a.txt": "a needle\n" });
  const workspace = openWorkspace(folder.root);
  const judged: unknown[] = [];
  const model = scriptedModel([[call(tool, input)], "ok"]);
  const tools = [listTool(workspace), searchTool(workspace, { ripgrep: false })];
  const permission = (request: { input: unknown; tool: { about?(input: never): unknown } }) => {
    judged.push(request.tool.about?.(request.input as never));
    return { decision: "allow" } as const;
  };
  await new Agent({ model, tools, permission }).send("go");
  const last = model.requests[1]?.messages.at(-1);
  expect(last).toMatchObject({ results: [{ failed: false, output: expect.stringContaining("a.txt") }] });
  expect(judged).toContainEqual(expect.objectContaining({ paths: [{ path: ".", access: "read" }] }));
});

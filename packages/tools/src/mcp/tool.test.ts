import type { Json } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { expect, test } from "vitest";
import { agentTool } from "./tool.ts";

const copy = agentTool("files", "mcp_files_copy", { name: "copy", inputSchema: { type: "object" } }, async () => {
  throw new Error("It is not called here.");
});

test.each<[Json, About]>([
  [
    { path: "a", url: "b" },
    { title: "a", paths: [{ path: "a", access: "write" }], url: "b" },
  ],
  [
    { file_path: "a", pattern: "x" },
    { title: "x", paths: [{ path: "a", access: "write" }] },
  ],
  [{ command: "ls" }, { command: "ls" }],
  [{ destination: "a", path: 3 }, { paths: [{ path: "a", access: "write" }] }],
  [null, {}],
])("S24: a call of a server's tool with %j seems to be about %j", (input, about) => {
  expect(copy.about?.(input)).toEqual(about);
});

test("S24: a server's tool names its server, and never claims to read files or to steer the conversation", () => {
  expect(copy).toMatchObject({ offeredBy: "files", effects: "external" });
  expect(copy).not.toHaveProperty("files");
  expect(copy).not.toHaveProperty("control");
});

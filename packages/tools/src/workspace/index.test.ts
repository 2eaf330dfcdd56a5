import { readdirSync } from "node:fs";
import type { Tool } from "@banyan/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { workspaceTools } from "./index.ts";
import { call, TestFolder } from "./test-folder.fixture.ts";

test("B36, B62: the tools of a folder have effects, and tools that only look may begin early", () => {
  using folder = new TestFolder();
  const tools = workspaceTools({ root: folder.root });
  expect(tools.map(({ name, effects, eager }) => [name, effects, ...(eager ? ["eager"] : [])])).toEqual([
    ["read", "none", "eager"],
    ["list", "none", "eager"],
    ["search", "none", "eager"],
    ["write", "idempotent"],
    ["edit", "external"],
    ["edit_mode", "idempotent"],
    ["shell", "external"],
    ["processes", "idempotent"],
    ["process_input", "external"],
  ]);
});

test("every argument is described in the schema that the model sees", () => {
  using folder = new TestFolder();
  for (const tool of workspaceTools({ root: folder.root })) {
    const schema = z.toJSONSchema(tool.input as z.ZodType);
    expect(schema.type).toBe("object");
    for (const property of Object.values(schema.properties ?? {})) {
      expect(property).toMatchObject({ description: expect.stringMatching(/^[A-Z].*\.$/) });
    }
  }
});

test("the tools get the options: protected paths, environment, backups and forbidden texts", async () => {
  using folder = new TestFolder({ "a.txt": "one\n" });
  const backups = `${folder.outside}/backups`;
  const refuse = (text: string) => (text.includes("[hidden]") ? "It holds a placeholder." : undefined);
  const tools = new Map(
    workspaceTools({ root: folder.root, protected: ["locked"], env: { GREETING: "hello" }, backups, refuse }).map(
      (tool) => [tool.name, tool],
    ),
  );
  const use = (name: string, input: Readonly<Record<string, unknown>>) => call(tools.get(name) as Tool, input);
  for (const [name, path] of [
    ["write", "path"],
    ["edit", "path"],
    ["edit_mode", "file_path"],
  ] as const)
    await expect(use(name, { [path]: "locked/a", content: "", old_text: "a", new_text: "b" })).rejects.toThrow(
      "locked is protected",
    );
  expect(await use("shell", { command: 'echo "$GREETING"' })).toBe("hello\n");
  await expect(use("write", { path: "a.txt", content: "[hidden]" })).rejects.toThrow("It holds a placeholder.");
  await use("edit", { path: "a.txt", old_text: "one", new_text: "two" });
  expect(readdirSync(backups)).toHaveLength(1);
});

test("a workspace that cannot be opened fails at once", () => {
  using folder = new TestFolder();
  expect(() => workspaceTools({ root: folder.path("none") })).toThrow(/none cannot be opened/);
});

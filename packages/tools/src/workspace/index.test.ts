import { expect, test } from "vitest";
import { z } from "zod";
import { call, TestFolder } from "./fixture.ts";
import { workspaceTools } from "./index.ts";

test("B36: the tools for a folder, with their effects", () => {
  using folder = new TestFolder();
  const tools = workspaceTools({ root: folder.root });
  expect(tools.map((tool) => [tool.name, tool.effects])).toEqual([
    ["read", "none"],
    ["list", "none"],
    ["search", "none"],
    ["write", "idempotent"],
    ["edit", "external"],
    ["shell", "external"],
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

test("the options reach the tools: protected paths and the environment", async () => {
  using folder = new TestFolder();
  const tools = workspaceTools({ root: folder.root, protected: ["locked"], env: { GREETING: "hello" } });
  const [, , , write, , shell] = tools;
  if (write === undefined || shell === undefined) throw new Error("A tool is missing.");
  await expect(call(write, { path: "locked/a", content: "" })).rejects.toThrow("locked is protected");
  expect(await call(shell, { command: 'echo "$GREETING"' })).toBe("hello\n");
});

test("a workspace that cannot be opened is said at once", () => {
  using folder = new TestFolder();
  expect(() => workspaceTools({ root: folder.path("none") })).toThrow(/none cannot be opened/);
});

import { expect, test } from "vitest";
import { subcommandIn } from "../subcommands.ts";

const read = (...args: readonly string[]) => subcommandIn(["mcp", ...args]);
const added = (...args: readonly string[]) => {
  const wanted = read("add", ...args);
  return wanted?.type === "mcp" && wanted.arguments.action === "add" ? wanted.arguments : wanted;
};

test("B47: banyan mcp alone lists", () => {
  expect(read()).toEqual({ type: "mcp", arguments: { action: "list", output: "text" } });
  expect(read("list", "-o", "json")).toEqual({ type: "mcp", arguments: { action: "list", output: "json" } });
});

test("B47: options after the name belong to the added program, options before the name to banyan", () => {
  expect(
    added("-e", "A=b=c", "--env", "B=", "--timeout", "5", "--cwd", "sub", "files", "npx", "-y", "-e", "server"),
  ).toEqual({
    action: "add",
    name: "files",
    entry: { command: "npx", args: ["-y", "-e", "server"], env: { A: "b=c", B: "" }, timeout: 5, cwd: "sub" },
  });
  expect(added("-H", "X-Key=1", "remote", "https://example.com/mcp")).toEqual({
    action: "add",
    name: "remote",
    entry: { url: "https://example.com/mcp", headers: { "X-Key": "1" } },
  });
  expect(added("plain", "program")).toEqual({ action: "add", name: "plain", entry: { command: "program" } });
});

test("B47: -- before a program, as other agents want it, is no program", () => {
  const entry = { command: "npx", args: ["-y", "--", "server"] };
  expect(added("files", "--", "npx", "-y", "--", "server")).toEqual({ action: "add", name: "files", entry });
});

test.each([
  [["add", "a", "--"], "Missing required argument 'command-or-address'"],
  [["add", "-e", "KEY", "a", "x"], "Use a name and a value, as in NAME=VALUE."],
  [["add", "-e", "=x", "a", "x"], "Use a name and a value, as in NAME=VALUE."],
  [["add", "--timeout", "0", "a", "x"], "Use a whole number of at least 1."],
  [["add", "a"], "Missing required argument 'command-or-address'"],
  [["test"], "Missing required argument 'name'"],
  [["login", "a", "b"], "Too many arguments"],
  [["lst"], "Unknown command 'lst' (Did you mean list?)"],
])("B47: %j is refused", (args, message) => {
  expect(read(...args)).toEqual({ type: "mistake", message: expect.stringContaining(message) });
});

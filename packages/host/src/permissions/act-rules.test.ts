import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, Tool } from "@banyan/core";
import type { About } from "@banyan/core/conversation";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, seemingly, tool } from "./call.fixture.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-acts-"));
afterAll(() => rmSync(workspace, { recursive: true }));

const server = ({ readOnlyHint = false } = {}): Tool => ({
  ...tool("mcp_files_do"),
  about: (input) => seemingly(input, readOnlyHint),
});
/** A call as another program's agent reports it. */
const agents = (about: About, files?: "read" | "write"): Tool => ({
  ...tool("claude_other", about.untold === undefined && files === "read" ? "none" : "external"),
  offeredBy: "claude",
  asAsked: true,
  files,
  about: () => about,
});

const decide = async (texts: Parameters<typeof rules>[0], of: Tool, input: Json, more: object = {}) =>
  (await judge(permission({ workspace, tools: () => [of], rules: rules(texts), ...more }), of, input)).decision;

const paths = (path: string, access: "read" | "write" = "write"): About => ({ paths: [{ path, access }] });

const INPUTS: readonly Json[] = [
  { path: "src/a" },
  { path: "src/a", content: "x" },
  { command: "ls" },
  { url: "https://example.org" },
];
const both = ["b", "src/a"].map((path) => ({ path, access: "write" }) as const);

describe("S43: a rule that denies or asks applies to the act of any caller", () => {
  test.each<[string, Tool, Json]>([
    ["write", tool("edit"), { path: "a" }],
    ["edit(src/**)", tool("write"), { path: "src/a", content: "" }],
    ["write(src/**)", { ...tool("take"), files: "write", about: () => ({ paths: [...both] }) }, {}],
    ["write(src/**)", server(), { path: "src/a", content: "x" }],
    ["edit", server(), { destination: "a" }],
    ["edit(src/**)", server(), { files: [{ filePath: "src/a" }] }],
    ["write(src/**)", server({ readOnlyHint: true }), { path: "src/a", content: "x" }],
    ["write(src/**)", server(), { patch: "*** Begin Patch\n*** Update File: src/a\n" }],
    ["write(src/**)", server(), { uri: `file://${workspace}/src/a` }],
    ["read(src/**)", server(), { path: "src/a" }],
    ["shell", server(), { cmd: "ls" }],
    ["shell(rm *)", server(), { command: "rm", args: ["-rf", "x"] }],
    ["shell(rm *)", server(), { commands: ["ls", "rm x"] }],
    ["write(src/**)", server(), { command: "echo x > src/a" }],
    ["fetch(evil.example)", server(), { link: "https://evil.example/x" }],
    ["write", agents(paths("a"), "write"), {}],
    ["edit(src/**)", agents(paths("src/a")), {}],
    ["read(src/**)", agents(paths("src/a", "read"), "read"), {}],
    ["shell(rm *)", agents({ command: "rm x" }, "read"), {}],
    ["write", agents({ untold: "files" }, "write"), {}],
    ["read", agents({ untold: "files" }, "read"), {}],
    ["shell", agents({ untold: "command" }), {}],
  ])("%s: %o of %j", async (rule, of, input) => {
    expect(await decide({ deny: [rule], allow: [of.name, "shell", "write"] }, of, input)).toBe("deny");
    expect(await decide({ deny: [rule] }, of, input, { mode: "all" })).toBe("deny");
    expect(await decide({ ask: [rule], allow: [of.name, "shell", "write"] }, of, input)).toBe("ask");
  });

  test.each<[string, Tool, Json]>([
    // The server claims to read only.
    ["write", server({ readOnlyHint: true }), { path: "a" }],
    ["write", server(), { where: "a" }],
    ["write(src/**)", server(), { where: "src/a" }],
    ["shell(rm *)", server(), { code: "subprocess.run('rm x')" }],
    ["shell", server(), {}],
    // The agent claims to read only.
    ["write", agents(paths("a", "read"), "read"), {}],
    ["write(src/**)", agents({ untold: "files" }, "write"), {}],
    ["shell(rm *)", agents({ untold: "command" }), {}],
    ["shell(rm *)", agents({ untold: "files" }, "write"), {}],
    ["read(src/**)", agents({ untold: "act" }), {}],
    ["edit", agents({ untold: "act" }), {}],
  ])("a call without its act is asked about, and refused without a user: %s, %o of %j", async (rule, of, input) => {
    for (const mode of ["ask", "all"]) {
      expect(await decide({ deny: [rule], allow: [of.name] }, of, input, { mode })).toBe("ask");
      const unasked = permission({
        workspace,
        rules: rules({ deny: [rule], allow: [of.name] }),
        mode: mode as "ask",
        canAsk: false,
      });
      expect(await judge(unasked, of, input)).toEqual({
        decision: "deny",
        reason: `The rule '${rule}' may forbid this call, and no user can be asked here. Name the files or the command in the arguments.`,
      });
    }
    expect(await decide({ ask: [rule], allow: [of.name] }, of, input)).toBe("ask");
  });

  test.each<[string, Tool, Json]>([
    ["write(src/**)", server(), { path: "lib/a", content: "src/a" }],
    ["read(.env)", server(), { city: "Berlin" }],
    ["shell(rm *)", server(), { city: "Berlin" }],
    ["shell(rm *)", server(), { path: "a", content: "rm x" }],
    ["edit_mode", server(), { path: "a", content: "" }],
    ["shell", agents(paths("a"), "write"), {}],
    ["write(src/**)", agents(paths("lib/a"), "write"), {}],
    ["read", agents({ command: "ls" }), { command: "ls" }],
    ["edit_mode", tool("write"), { path: "a", content: "" }],
  ])("a rule on something else does not reach it: %s, %o of %j", async (rule, of, input) => {
    expect(await decide({ deny: [rule], ask: [rule], allow: [of.name, "shell(ls)"] }, of, input)).toBe("allow");
  });

  test("rules that allow, and mode edits, reach no tool of a server, and no call without paths", async () => {
    const allow = ["write", "edit", "read", "shell", "fetch", "write(**)", "read(**)", "shell(ls)"];
    for (const input of INPUTS) {
      for (const of of [server(), server({ readOnlyHint: true })]) {
        expect(await decide({ allow }, of, input)).toBe("ask");
        expect(await decide({ allow }, of, input, { mode: "edits" })).toBe("ask");
      }
    }
    expect(await decide({}, agents(paths("src/a"), "write"), {}, { mode: "edits" })).toBe("allow");
    expect(await decide({}, agents({ untold: "files" }, "write"), {}, { mode: "edits" })).toBe("ask");
    expect(await decide({}, agents({ command: "ls", ...paths("src/a") }), {}, { mode: "edits" })).toBe("ask");
    expect(await decide({}, agents(paths("src/a"), "write"), { to: "/etc/a" }, { mode: "edits" })).toBe("ask");
    expect(await decide({}, agents(paths("src/a"), "write"), { content: "/etc/a" }, { mode: "edits" })).toBe("allow");
  });

  test("a rule for the paths of a server's tool does not allow its command", async () => {
    const allow = ["mcp_files_*(src/**)"];
    expect(await decide({ allow }, server(), { path: "src/a" })).toBe("allow");
    expect(await decide({ allow }, server(), { path: "src/a", command: "reboot" })).toBe("ask");
  });
});

describe("S43: acts without asking", () => {
  const done = async (texts: Parameters<typeof rules>[0], of: Tool, mode: "ask" | "plan" | "all" = "ask") => {
    const request = { call: "call", run: "run", tool: of, input: {}, allowed: [], done: true };
    const judging = permission({ workspace, mode, rules: rules(texts) });
    return judging({
      ...request,
      conversation: (await import("@banyan/core")).emptyConversation(),
      signal: new AbortController().signal,
    });
  };
  const run = agents({ command: "rm x" });

  test("count only if a rule covers them, and the reason says so", async () => {
    expect(await done({ deny: ["shell(rm *)"] }, run)).toEqual({
      decision: "deny",
      reason: "The rule 'shell(rm *)' forbids this call.",
    });
    expect(await done({ ask: ["shell(rm *)"] }, run)).toEqual({
      decision: "deny",
      reason: "The rule 'shell(rm *)' requires approval for this call.",
    });
    expect(await done({ ask: ["shell(rm *)"] }, run, "all")).toEqual({ decision: "allow" });
    expect(await done({ deny: ["write"] }, agents(paths("a", "read"), "read"))).toEqual({ decision: "allow" });
    expect(await done({}, run, "plan")).toEqual({ decision: "allow" });
  });
});

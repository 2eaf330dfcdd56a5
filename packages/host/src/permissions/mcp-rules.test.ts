import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "@banyan/core";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "./call.fixture.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-permissions-"));

afterAll(() => rmSync(workspace, { recursive: true }));

const write = tool("write");

const here = { path: "src/a.ts" };

describe("B47, B63: the tools of an MCP server as one", () => {
  const look = tool("mcp_files_look");
  const other = tool("mcp_mail_send");

  test("`mcp_server_*` covers all tools of the server and no others; deny and ask come first", async () => {
    const allowing = permission({ workspace, rules: rules({ allow: ["mcp_files_*"] }) });
    expect((await judge(allowing, look, { id: "1" })).decision).toBe("allow");
    expect((await judge(allowing, other, { id: "1" })).decision).toBe("ask");
    expect((await judge(allowing, tool("mcp_files"), {})).decision).toBe("ask");
    const some = permission({
      workspace,
      rules: rules({ deny: ["mcp_files_delete_*"], ask: ["mcp_mail_*"], allow: ["mcp_files_*", "mcp_mail_send"] }),
    });
    expect((await judge(some, tool("mcp_files_delete_all"), {})).decision).toBe("deny");
    expect((await judge(some, look, {})).decision).toBe("allow");
    expect((await judge(some, other, {})).decision).toBe("ask");
    const none = permission({ workspace, mode: "all", rules: rules({ deny: ["mcp_*"] }) });
    expect((await judge(none, look, {})).decision).toBe("deny");
    expect((await judge(none, write, here)).decision).toBe("allow");
  });

  test("a pattern is held against the main argument of each", async () => {
    const some = permission({
      workspace,
      mode: "ask",
      rules: rules({ deny: ["mcp_files_*(secret/**)"], allow: ["mcp_files_*(src/**)", "mcp_web_*(example.org)"] }),
    });
    expect((await judge(some, look, { path: "secret/a" })).decision).toBe("deny");
    expect((await judge(some, look, { path: "src/a" })).decision).toBe("allow");
    expect((await judge(some, look, { path: "lib/a" })).decision).toBe("ask");
    expect((await judge(some, tool("mcp_web_get"), { url: "https://example.org/a" })).decision).toBe("allow");
    expect((await judge(some, tool("mcp_web_get"), { url: "https://example.net/a" })).decision).toBe("ask");
  });

  test("a deny rule checks each text however its path is written; an allow rule refuses paths that climb", async () => {
    const some = permission({
      workspace,
      rules: rules({ deny: ["mcp_files_*(secret/**)"], allow: ["mcp_files_*(src/**)", "mcp_files_copy"] }),
    });
    const copy = tool("mcp_files_copy");
    expect((await judge(some, copy, { path: "src/a", to: "lib/a" })).decision).toBe("allow");
    for (const to of ["secret/a", "./secret/a", "src/../secret/a", join(workspace, "secret/a")])
      expect((await judge(some, copy, { path: "src/a", to })).decision).toBe("deny");
    const many = tool("mcp_files_read_many");
    expect((await judge(some, many, { paths: ["src/a", "src/b..c"] })).decision).toBe("allow");
    for (const path of ["src/../../other", "src/..", "src\\..\\..\\other"])
      expect((await judge(some, many, { paths: ["src/a", path] })).decision).toBe("ask");
    expect((await judge(some, many, { paths: ["src/a", "./secret/b"] })).decision).toBe("deny");
  });
});

describe("S24: an allow rule for an MCP tool must match each place in the call", () => {
  const copy = tool("mcp_files_copy");
  const post = tool("mcp_web_post");

  test('"always" for one path covers no other place that the call writes or names', async () => {
    const some = permission({ workspace, rules: rules({ allow: ["mcp_files_*(src/**)", "mcp_web_*(example.org)"] }) });
    const elsewhere = ["/etc/passwd", " /etc/passwd", "~/.bashrc", "../x", "..", "src/../../x", ".env", "package.json"];
    for (const place of elsewhere) {
      for (const more of [{ destination: place }, { to: [{ file: place }] }, { "": place }] as Record<string, Json>[])
        expect(await judge(some, copy, { path: "src/a", ...more }), place).toEqual({ decision: "ask" });
    }
    expect(await judge(some, copy, { path: "src/a", destination: "src/b.ts" })).toEqual({ decision: "allow" });
    expect(await judge(some, copy, { path: "src/a", encoding: "utf-8", text: "Hello.\n/etc/passwd\n" })).toEqual({
      decision: "allow",
    });
    expect(await judge(some, post, { url: "https://example.org/", file: "/etc/passwd" })).toEqual({ decision: "ask" });
    expect(await judge(some, post, { url: "https://example.org/", kind: "form" })).toEqual({ decision: "allow" });
  });

  test('an offered "always" covers its call, whatever the call names', async () => {
    const places = ["src/a", "lib/c", "/etc/x", "~/y", "utf8", "https://a.example/x", "..", "a.b", undefined];
    const asking = permission({ workspace });
    for (const path of places) {
      for (const url of places) {
        for (const to of places) {
          const input = { ...(path && { path }), ...(url && { url }), ...(to && { to }) };
          const { pattern } = (await judge(asking, copy, input)) as { readonly pattern?: string };
          if (pattern === undefined) continue;
          expect((await judge(asking, copy, input, [pattern])).decision, JSON.stringify(input)).toBe("allow");
          const further = { ...input, more: "/etc/passwd" };
          if (!pattern.includes("(") || pattern.includes("/etc")) continue;
          expect((await judge(asking, copy, further, [pattern])).decision, JSON.stringify(input)).toBe("ask");
        }
      }
    }
  });
});

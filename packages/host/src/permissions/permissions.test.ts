import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyConversation, type Json, type Tool } from "@banyan/core";
import { afterAll, describe, expect, test } from "vitest";
import { judge, permission, rules, tool } from "./call.fixture.ts";
import { suggestPattern } from "./permissions.ts";

const workspace = mkdtempSync(join(tmpdir(), "banyan-permissions-"));

afterAll(() => rmSync(workspace, { recursive: true }));

const write = tool("write");

const read = tool("read", "none");

const here = { path: "src/a.ts" };

describe("B63: the order of rules", () => {
  test("deny precedes ask, and ask precedes allow", async () => {
    const all = permission({
      workspace,
      rules: rules({ deny: ["write(a)"], ask: ["write(a)", "write(b)"], allow: ["write"] }),
    });
    expect(await judge(all, write, { path: "a" })).toEqual({
      decision: "deny",
      reason: "The rule 'write(a)' forbids this call.",
    });
    expect(await judge(all, write, { path: "b" })).toEqual({ decision: "ask", byRule: true });
    expect(await judge(all, write, { path: "c" })).toEqual({ decision: "allow" });
  });

  test("an answer `always` of the conversation counts as allow, and no more than that", async () => {
    const some = permission({ workspace, rules: rules({ deny: ["write(src/a.ts)"], ask: ["write(src/b.ts)"] }) });
    const always = ["write(src/**)"];
    expect((await judge(some, write, here, always)).decision).toBe("deny");
    expect((await judge(some, write, { path: "src/b.ts" }, always)).decision).toBe("ask");
    expect((await judge(some, write, { path: "src/c.ts" }, always)).decision).toBe("allow");
    expect((await judge(some, write, { path: "src/c.ts" }, ["write(src"])).decision).toBe("ask");
  });

  test("`*` speaks of every tool", async () => {
    expect((await judge(permission({ workspace, rules: rules({ allow: ["*"] }) }), write, here)).decision).toBe(
      "allow",
    );
    expect((await judge(permission({ workspace, rules: rules({ deny: ["*"] }) }), read, here)).decision).toBe("deny");
    expect((await judge(permission({ workspace, rules: rules({ ask: ["*"] }) }), read, here)).decision).toBe("ask");
  });
});

test.each([
  ["read", { path: "earlier:#1" }],
  ["search", { pattern: "secret/keys", path: "earlier:" }],
])("F98: rules on paths do not hold for %s of an address earlier:, and rules on the tool do", async (name, input) => {
  const look = tool(name, "none");
  const judged = async (texts: Parameters<typeof rules>[0], mode: "ask" | "plan" = "ask") =>
    (await judge(permission({ workspace, mode, rules: rules(texts) }), look, input)).decision;
  expect(await judged({ deny: ["read(earlier:*)", "read(secret/**)", "read(**)", `${name}(**)`] })).toBe("allow");
  expect(await judged({ ask: [`${name}(**)`] }, "plan")).toBe("allow");
  expect(await judged({ deny: [name] })).toBe("deny");
  expect(await judged({ ask: [name] })).toBe("ask");
  const file = { ...input, path: "./earlier:#1" };
  const closed = permission({ workspace, rules: rules({ deny: [`${name}(earlier:*)`] }) });
  expect((await judge(closed, look, file)).decision).toBe("deny");
});

describe("B63: decisions without rules", () => {
  test.each([
    ["read", "none", { path: "src/a.ts" }, "allow", "allow", "allow"],
    ["read", "none", { path: "/etc/hosts" }, "ask", "ask", "allow"],
    ["list", "none", {}, "allow", "allow", "allow"],
    ["search", "none", { pattern: "x" }, "allow", "allow", "allow"],
    ["search", "none", { pattern: "x", path: ".." }, "ask", "ask", "allow"],
    ["write", "external", { path: "src/a.ts", content: "" }, "ask", "allow", "allow"],
    ["edit", "external", { path: "src/a.ts" }, "ask", "allow", "allow"],
    ["edit_mode", "external", { file_path: "src/a.ts" }, "ask", "allow", "allow"],
    ["write", "external", { path: "../a.ts" }, "ask", "ask", "allow"],
    ["shell", "external", { command: "ls" }, "ask", "ask", "allow"],
    ["fetch", "none", { url: "https://example.org" }, "ask", "ask", "allow"],
    ["look_up", "none", { word: "x" }, "allow", "allow", "allow"],
    ["deploy", "external", { to: "staging" }, "ask", "ask", "allow"],
    ["remove", "idempotent", { path: "src/a.ts" }, "ask", "ask", "allow"],
  ] as const)("%s (%s) of %j: %s, in mode edits %s, in mode all %s", async (name, effects, input, ask, edits, all) => {
    for (const [mode, expected] of [
      ["ask", ask],
      ["edits", edits],
      ["all", all],
    ] as const) {
      expect((await judge(permission({ workspace, mode }), tool(name, effects), input)).decision).toBe(expected);
    }
  });

  test("mode all asks nothing, and deny rules still deny", async () => {
    const all = permission({ workspace, mode: "all", rules: rules({ deny: ["write(src/**)"], ask: ["write"] }) });
    expect((await judge(all, write, here)).decision).toBe("deny");
    expect((await judge(all, write, { path: "lib/a" })).decision).toBe("allow");
  });

  test("S34: control tools are allowed, unless a rule that denies or asks names one", async () => {
    for (const name of ["finish_task", "ask_client", "shorten_conversation", "launch_agent"]) {
      const control = tool(name);
      expect(
        (await judge(permission({ workspace, canAsk: false, rules: rules({ deny: ["*"], ask: ["*"] }) }), control, {}))
          .decision,
      ).toBe("allow");
      expect(await judge(permission({ workspace, rules: rules({ ask: [name] }) }), control, {})).toEqual({
        decision: "ask",
        byRule: true,
      });
      expect(
        (await judge(permission({ workspace, mode: "all", rules: rules({ deny: [name] }) }), control, {})).decision,
      ).toBe("deny");
    }
  });
});

describe("plan mode", () => {
  const plans = permission({
    workspace,
    mode: "plan",
    rules: rules({ allow: ["shell(npm test [harmless])", "shell(git log [harmless])", "write", "deploy"] }),
    tools: () => [tool("deploy")],
  });

  test.each([
    ["read", "none", { path: "src/a.ts" }, "allow"],
    ["read", "none", { path: "/etc/hosts" }, "ask"],
    ["search", "none", { pattern: "x" }, "allow"],
    ["fetch", "none", { url: "https://example.org" }, "ask"],
    ["shell", "external", { command: "git log --oneline | head -5" }, "ask"],
    ["shell", "external", { command: "git log --oneline" }, "allow"],
    ["shell", "external", { command: "ls > a.txt" }, "deny"],
    ["shell", "external", { command: "find . -delete" }, "deny"],
    ["shell", "external", { command: "npm test" }, "deny"],
    ["write", "external", { path: "src/a.ts", content: "" }, "deny"],
    ["edit_mode", "external", { file_path: "src/a.ts" }, "deny"],
    ["deploy", "external", { to: "staging" }, "deny"],
    ["remember", "idempotent", { text: "x" }, "deny"],
    ["launch_agent", "external", { task: "look" }, "allow"],
  ] as const)("%s (%s) of %j: %s, whatever is allowed otherwise", async (name, effects, input, expected) => {
    const permit = await judge(plans, tool(name, effects), input);
    expect(permit.decision).toBe(expected);
    if (permit.decision === "deny") expect(permit.reason).toContain("Approval mode 'plan' only allows reading");
  });

  test("the user decides about a submitted plan only, and an agent without a user learns so", async () => {
    const steps = [{ title: "look", status: "pending" }];
    const plan = tool("update_plan");
    expect(await judge(plans, plan, { steps })).toEqual({ decision: "allow" });
    expect(await judge(plans, plan, { steps, hand_in: true })).toEqual({ decision: "ask", byRule: true });
    const unasked = permission({ workspace, mode: "plan", canAsk: false });
    expect(await judge(unasked, plan, { steps, hand_in: true })).toMatchObject({
      reason: expect.stringContaining("no user can be asked here. Answer with the plan"),
    });
    expect(await judge(permission({ workspace }), plan, { steps, hand_in: true })).toEqual({ decision: "allow" });
  });
});

describe("B63: without a user", () => {
  const unasked = permission({ workspace, canAsk: false });

  test("ask means denied, and the reason names the rule that would allow it", async () => {
    expect(await judge(unasked, tool("shell"), { command: "npm test" })).toEqual({
      decision: "deny",
      reason:
        "This call needs a user's approval, and no user can be asked here (allow it with --allow 'shell(npm test [harmless])').",
      unasked: true,
    });
    expect((await judge(unasked, read, here)).decision).toBe("allow");
  });

  test("the rule in the reason can be pasted into a shell", async () => {
    const permit = await judge(unasked, tool("shell"), { command: `rm "it's"` });
    expect(permit).toMatchObject({
      reason: expect.stringContaining(String.raw`--allow 'shell(rm '\''it'\''\'\'''\''s'\'')'`),
    });
  });

  test("F104: an ask rule precedes hooks", async () => {
    const asks = permission({ workspace, canAsk: false, rules: rules({ ask: ["shell(npm:*)"] }) });
    expect(await judge(asks, tool("shell"), { command: "npm test" })).toEqual({
      decision: "deny",
      reason: "This call needs a user's approval, and no user can be asked here.",
    });
  });

  test("no rule is named where none could allow it", async () => {
    expect(await judge(unasked, tool("shell"), { command: "$X" })).toEqual({
      decision: "deny",
      reason: "This call needs a user's approval, and no user can be asked here.",
      unasked: true,
    });
  });
});

describe('B23, A10: rules that an "always" answer adds', () => {
  const suggest = (name: string, input: Record<string, string>) =>
    suggestPattern(
      {
        call: "call",
        run: "run",
        tool: tool(name),
        input,
        conversation: emptyConversation(),
        allowed: [],
        signal: AbortSignal.abort(),
      },
      workspace,
    );

  test.each([
    ["edit", { path: "src/deep/a.ts" }, "edit(src/deep/**)"],
    ["edit", { path: "package.json" }, "edit(package.json)"],
    ["edit", { path: "app/[id]/page.tsx" }, "edit(app/\\[id\\]/**)"],
    ["edit_mode", { file_path: "src/a.ts" }, "edit_mode(src/**)"],
    ["read", { path: "/etc/hosts" }, "read(/etc/hosts)"],
    ["fetch", { url: "https://example.org/a?b" }, "fetch(https://example.org/*)"],
    ["deploy", { to: "staging" }, "deploy"],
    ["shell", { command: "git log -3" }, "shell(git log [harmless])"],
    ["shell", { command: "npm publish" }, "shell(npm publish)"],
  ] as const)("%s of %j: %s", async (name, input, expected) => {
    expect(suggest(name, input)).toBe(expected);
    expect(await judge(permission({ workspace }), tool(name), input, [expected])).toEqual({ decision: "allow" });
    const never = permission({ workspace, tools: () => [tool(name)], rules: rules({ deny: [expected] }) });
    expect((await judge(never, tool(name), input)).decision).toBe("deny");
  });

  test("no rule is offered if an ask rule applies, which an answer cannot override", async () => {
    const asking = permission({ workspace, rules: rules({ ask: ["write(src/**)"] }) });
    expect(await judge(asking, write, here)).toEqual({ decision: "ask", byRule: true });
  });
});

describe("B63: addresses", () => {
  test.each([
    ["fetch(https://example.org/*)", "https://example.org/a/b?c", true],
    ["fetch(https://example.org/*)", "https://EXAMPLE.org", true],
    ["fetch(https://example.org/*)", "http://example.org/", false],
    ["fetch(https://example.org/*)", "https://example.org.evil.example/", false],
    ["fetch(https://example.org/*)", "https://example.org@evil.example/", false],
    ["fetch(https://evil.example/*)", "https://example.org@evil.example/", false],
    ["fetch(https://example.org/docs/*)", "https://example.org/docs/../admin", false],
    ["fetch(https://example.org/docs/*)", "https://example.org/docs/%2e%2e/admin", false],
    ["fetch(https://*.example.org/*)", "https://evil.example/x.example.org/", false],
    ["fetch(https://*.example.org/*)", "https://api.example.org/x", true],
    ["fetch(example.org)", "http://example.org/any/path", true],
    ["fetch(example.org)", "https://example.org:8443/", false],
    ["fetch(example.org)", "https://example.org./any", true],
    ["fetch(https://example.org.:8443/*)", "https://example.org:8443/any", true],
    ["fetch(example.org)", "https://example.org../", false],
    ["fetch(example.org/private/*)", "https://example.org/%70riv%61te/x", true],
    ["fetch(example.org/a%7Eb/*)", "https://example.org/a~b/x", true],
    ["fetch(example.org/a/b)", "https://example.org/a%2fb", false],
    ["fetch(*)", "file:///etc/passwd", false],
    ["fetch(*)", "not an address", false],
  ])("%s with %s: %s", async (rule, url, allowed) => {
    const permit = await judge(permission({ workspace, rules: rules({ allow: [rule] }) }), tool("fetch", "none"), {
      url,
    });
    expect(permit.decision).toBe(allowed ? "allow" : "ask");
  });

  test("a deny rule matches an address in any spelling, and unreadable addresses may match", async () => {
    const denying = permission({ workspace, rules: rules({ deny: ["fetch(evil.example)"], allow: ["fetch"] }) });
    expect((await judge(denying, tool("fetch"), { url: "HTTPS://user@EVIL.example/x" })).decision).toBe("deny");
    expect((await judge(denying, tool("fetch"), { url: "https://evil.example./x" })).decision).toBe("deny");
    expect((await judge(denying, tool("fetch"), { url: "evil.example" })).decision).toBe("ask");
  });
});

describe("B63: tools of which nothing is known", () => {
  test("an allow rule must match all texts, and a deny rule matches any", async () => {
    const deploy = tool("deploy");
    const tools = () => [tool("deploy")];
    const allowing = permission({ workspace, tools, rules: rules({ allow: ["deploy(staging*)"] }) });
    expect((await judge(allowing, deploy, { to: "staging-2" })).decision).toBe("allow");
    expect((await judge(allowing, deploy, { note: "staging", to: "production" })).decision).toBe("ask");
    expect((await judge(allowing, deploy, { count: 1 })).decision).toBe("ask");
    const denying = permission({ workspace, tools, mode: "all", rules: rules({ deny: ["deploy(production)"] }) });
    expect((await judge(denying, deploy, { note: "x", targets: [{ name: "production" }] })).decision).toBe("deny");
    expect((await judge(denying, deploy, { to: "staging" })).decision).toBe("allow");
  });
});

describe("H8: a tool's declared acts decide, whatever its name", () => {
  const paths = (input: unknown) => input as { readonly from: string; readonly to: string };
  const move: Tool = {
    ...tool("move"),
    files: "write",
    about: (input) => ({
      paths: [
        { path: paths(input).from, access: "write" },
        { path: paths(input).to, access: "write" },
      ],
    }),
  };
  const decide = async (texts: Parameters<typeof rules>[0], input: Json, of = move, mode: "ask" | "edits" = "ask") =>
    (await judge(permission({ workspace, mode, rules: rules(texts), tools: () => [move, of] }), of, input)).decision;

  test("writing in the workspace is free if the rules allow it, for each place", async () => {
    expect(await decide({}, { from: "src/a", to: "src/b" })).toBe("ask");
    expect(await decide({}, { from: "src/a", to: "src/b" }, move, "edits")).toBe("allow");
    for (const to of ["/etc/passwd", ".git/hooks/pre-commit", "../b"])
      expect(await decide({}, { from: "src/a", to }, move, "edits"), to).toBe("ask");
  });

  test("a deny rule matches one of the places, and an allow rule all of them", async () => {
    expect(await decide({ deny: ["move(secret/**)"] }, { from: "src/a", to: "secret/b" })).toBe("deny");
    expect(await decide({ allow: ["move(src/**)"] }, { from: "src/a", to: "src/b" })).toBe("allow");
    expect(await decide({ allow: ["move(src/**)"] }, { from: "src/a", to: "lib/b" })).toBe("ask");
  });

  test("`always` is offered where one rule covers all its places", async () => {
    const asking = permission({ workspace });
    expect(await judge(asking, move, { from: "src/a", to: "src/b" })).toEqual({
      decision: "ask",
      pattern: "move(src/**)",
    });
    expect(await judge(asking, move, { from: "src/a", to: "lib/b" })).toEqual({ decision: "ask" });
  });

  test("a deny rule on reading closes files to the tool, and closes them to commands that write", async () => {
    expect(await decide({ deny: ["read(secret/**)"] }, { from: "secret/a", to: "src/b" })).toBe("deny");
    expect(await decide({ deny: ["move(secret/**)"] }, { command: "echo x > secret/a" }, tool("shell"))).toBe("deny");
  });

  test("a rule with only the tool's name covers its commands, and so does each rule on commands", async () => {
    const zsh: Tool = { ...tool("zsh"), about: (input) => ({ command: (input as { run: string }).run }) };
    expect(await decide({ deny: ["zsh"] }, { run: "ls" }, zsh)).toBe("deny");
    expect(await decide({ deny: ["shell(rm *)"] }, { run: "rm -r x" }, zsh)).toBe("deny");
    expect(await decide({ allow: ["shell(ls *)"] }, { run: "ls -l" }, zsh)).toBe("allow");
    expect(await decide({}, { run: "ls" }, zsh)).toBe("ask");
  });

  test("a tool without effects or an act is free unless a text leads out of the workspace", async () => {
    const look = tool("look", "none");
    for (const what of ["the sky", "src/a", "is there a/b?"]) expect(await decide({}, { what }, look)).toBe("allow");
    for (const what of ["/etc/passwd", "../x", "src/../../x"])
      expect(await decide({}, { what }, look), what).toBe("ask");
  });

  test("a tool with an unknown act does not count as a tool that only looks", async () => {
    const about = () => {
      throw new Error("It cannot say.");
    };
    expect(await decide({}, { what: "the sky" }, { ...tool("look", "none"), about })).toBe("ask");
    expect(await decide({ allow: ["look(the sky)"] }, { what: "the sky" }, { ...tool("look", "none"), about })).toBe(
      "allow",
    );
  });
});

test("E5: a call of a writing tool needs no approval if its own description says that it only reads files", async () => {
  const about = (access: "read" | "write", looksAt = true) => ({
    ...tool("edit"),
    about: () => ({
      paths: [{ path: "src/a.ts", access }],
      ...(looksAt && { looksAt: { one: "symbol", several: "symbols" } }),
    }),
  });
  const decision = async (of: Tool, texts: Parameters<typeof rules>[0] = {}, mode: "ask" | "plan" = "ask") =>
    (await judge(permission({ workspace, mode, rules: rules(texts) }), of, {})).decision;
  expect(await decision(about("read"))).toBe("allow");
  expect(await decision(about("read"), {}, "plan")).toBe("allow");
  expect(await decision(about("read"), { deny: ["read(src/**)"] })).toBe("deny");
  expect(await decision(about("write"))).toBe("ask");
  expect(await decision(about("read", false))).toBe("ask");
  expect(await decision({ ...about("read"), offeredBy: "a server" })).toBe("ask");
  const search = {
    ...tool("web_search", "idempotent"),
    about: () => ({ looksAt: { one: "search", several: "searches" } }),
  };
  expect(await decision(search)).toBe("ask");
});

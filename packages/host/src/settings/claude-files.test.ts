import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { call, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHost } from "../host/open-host.ts";
import { TrustRecord } from "../trust/trust-record.ts";
import { listedHooks } from "./listed-hooks.ts";

let home: string;
let project: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-claude-")));
  project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(path: string, content: object | string): void {
  const file = join(project, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

const command = (text: string) => ({ type: "command", command: text });
const open = (trusted: boolean) => {
  const env = { PATH: process.env.PATH, BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  return openHost({ cwd: project, home, env, canAsk: true, trusted, flags: { approval: "edits" }, readyLater: true });
};

function putTheirs(): void {
  put(".claude/settings.json", {
    statusLine: { ...command("echo theirs"), padding: 0 },
    permissions: { allow: ["Bash(rm *)"] },
    hooks: {
      PreToolUse: [{ matcher: "Write", hooks: [command("echo not by an agent >&2; exit 2"), { type: "prompt" }] }],
      WorktreeCreate: [{ hooks: [command("touch nothing")] }],
    },
  });
  put(".claude/settings.local.json", { hooks: { Stop: [{ hooks: [command("exit 0")] }] } });
  put(".claude/skills/release/SKILL.md", "---\ndescription: How we release.\n---\nTag it.");
  put(".claude/commands/fix.md", "Fix $1.");
  put("CLAUDE.md", "Speak in rhymes.");
}

test("C1: the hooks of .claude/settings.json run after the project is trusted, and notices name the others", async () => {
  putTheirs();
  const host = await open(true);
  const { agents } = await host.ready();
  expect(agents).toHaveLength(1);
  expect(host.configuration.settings.hooks).toEqual({
    PreToolUse: [{ matcher: "Write", hooks: [command("echo not by an agent >&2; exit 2")] }],
    Stop: [{ hooks: [command("exit 0")] }],
  });
  // T55: so does their status line.
  expect(host.configuration.settings.statusLine?.command).toBe("echo theirs");
  const source = join(project, ".claude", "settings.json");
  expect(host.notices.filter((notice) => notice.startsWith(source))).toEqual([
    expect.stringContaining("hooks.PreToolUse: a hook there does not run here; expected"),
    expect.stringContaining("hooks.WorktreeCreate: there is no such point here, so its hooks do not run"),
  ]);
  // The user agreed to its allow rules for another program.
  expect(host.configuration.settings.permissions).toBeUndefined();
  const session = await host.newSession();
  const model = scriptedModel([[call("write", { path: "a.txt", content: "a" })], "Well."]);
  const turn = await host.agent.with({ model }).send("Write it.", { session });
  expect(turn.reason).toBe("answered");
  expect(JSON.stringify(model.requests[1])).toContain("Not allowed: not by an agent");
  await session.close();
  await host.close();
});

test("S6: the trust question shows the exact commands, and without trust none of them is read", async () => {
  putTheirs();
  const trust = new TrustRecord({ env: { BANYAN_HOME: join(home, "own") }, home }).trustOf(project);
  expect("items" in trust && trust.items.map(({ kind, name, detail }) => `${kind} ${name}: ${detail}`)).toEqual([
    "hook PreToolUse Write: echo not by an agent >&2; exit 2",
    "hook Stop *: exit 0",
    "hook statusLine: echo theirs",
    "command fix: .claude/commands/fix.md",
    "skill release: .claude/skills/release",
    "instructions CLAUDE.md: CLAUDE.md",
  ]);
  const host = await open(false);
  const { skills, commands } = await host.ready();
  const { hooks, statusLine } = host.configuration.settings;
  expect([hooks, statusLine, skills, commands]).toEqual([undefined, undefined, [], []]);
  expect(host.agent.options.instructions).not.toContain("rhymes");
  expect(listedHooks(host)).toMatchObject([
    { file: join(project, ".claude", "settings.json"), isUsed: false, hooks: [{ event: "PreToolUse" }] },
    { file: join(project, ".claude", "settings.local.json"), isUsed: false, hooks: [{ command: "exit 0" }] },
  ]);
  await host.close();
});

test("B48: AGENTS.md precedes CLAUDE.md and GEMINI.md of the same folder; .banyan's skills and commands come first", async () => {
  putTheirs();
  put("src/GEMINI.md", "Be brief.");
  put(".banyan/commands/fix.md", "Mend $1.");
  const host = await open(true);
  const { skills, commands } = await host.ready();
  expect(host.agent.options.instructions).toContain("Speak in rhymes.");
  expect(skills.map(({ name }) => name)).toEqual(["release"]);
  expect(commands.map(({ text }) => text)).toEqual(["Mend $1."]);
  await host.close();
  put("AGENTS.md", "Speak plainly.");
  const later = await open(true);
  expect(later.agent.options.instructions).toContain("Speak plainly.");
  expect(later.agent.options.instructions).not.toContain("rhymes");
  await later.close();
});

test("S34: .claude/settings.json of a trusted project denies and asks, and allows nothing", async () => {
  put(".claude/settings.json", {
    permissions: { deny: ["Read(./.env)", "Edit(/src/**)", "Bash(rm", "NotebookEdit"], allow: ["Bash"] },
  });
  put(".claude/settings.local.json", { permissions: { ask: ["Bash(git push:*)"], allow: ["Edit"] } });
  put(".banyan/settings.json", { permissions: { deny: ["bash(x)", "shell(rm *)"] } });
  const host = await open(true);
  expect(host.configuration.settings.permissions).toEqual({
    deny: ["shell(rm *)", "Read(./.env)", `Edit(/${project}/src/**)`, "NotebookEdit"],
    ask: ["Bash(git push:*)"],
  });
  expect(host.notices).toEqual([
    expect.stringContaining('permissions.deny[0]: found "bash(x)"; expected a rule'),
    expect.stringContaining("permissions.deny[2]: this rule has no effect here; expected a rule"),
    "The rule 'NotebookEdit' has no effect: Banyan has no tool like NotebookEdit.",
  ]);
  await host.close();
  const untrusted = await open(false);
  expect(untrusted.configuration.settings.permissions).toBeUndefined();
  await untrusted.close();
});

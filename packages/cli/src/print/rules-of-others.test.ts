import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer, shell } from "../testing/model-server.ts";

let place: Home;
let user: string;
beforeEach(() => {
  place = home();
  user = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
});
afterEach(() => place[Symbol.dispose]());

function put(file: string, content: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}

const ARGS = ["-p", "Go.", "--model", "openai-compatible/test", "--approval", "all", "--unconfined"];

/** Runs a turn whose command creates a file. `isMade` is true if the command ran. */
async function ran(args: readonly string[] = []): Promise<{ readonly isMade: boolean; readonly stderr: string }> {
  const made = join(place.workspace, "made.txt");
  await using server = await modelServer(shell(`touch ${made}`), { text: ["done"] });
  const { stderr } = await banyan(place, [...ARGS, ...args], { env: server.env });
  return { isMade: existsSync(made), stderr };
}

test("S34: deny rules of Claude Code hold from a flag, from the user's settings and from .claude/settings.json", async () => {
  expect((await ran(["--deny", "Bash(touch *)"])).isMade).toBe(false);
  put(user, { permissions: { deny: ["Bash(touch:*)"] } });
  expect((await ran()).isMade).toBe(false);
  put(user, {});
  mkdirSync(join(place.workspace, ".git"), { recursive: true });
  put(join(place.workspace, ".claude/settings.json"), {
    permissions: { deny: ["Bash(touch *)", "bash(x)"], allow: ["Bash"] },
  });
  const { isMade, stderr } = await ran(["--trust"]);
  expect({ isMade, stderr }).toEqual({
    isMade: false,
    stderr: expect.stringContaining("permissions.deny[1]: this rule has no effect here; expected a rule"),
  });
  expect((await ran(["--deny", "Bash(rm *)"])).isMade).toBe(true);
});

test.each([
  ["--deny", "bash(touch *)"],
  ["--allow", "Bsh(touch *)"],
])("S34: a faulty rule of %s stops the start, in print mode and of a server", async (flag, rule) => {
  for (const args of [
    ["-p", "Go."],
    ["serve", "--port", "0"],
  ]) {
    const { code, stderr } = await banyan(place, [...args, "--model", "demo/offline", flag, rule]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`The rule '${rule}' names no tool; you may mean`),
    });
  }
});

test("S34: a faulty rule or matcher of the user's settings stops the start; `config check` proves the others", async () => {
  put(user, { hooks: { PreToolUse: [{ matcher: "bash", hooks: [{ type: "command", command: "exit 2" }] }] } });
  const { code, stderr } = await banyan(place, ["-p", "Go.", "--model", "demo/offline"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("'bash' matches nothing; you may mean 'Bash'"),
  });
  put(user, {
    permissions: { deny: ["Bash(rm *)", "NotebookEdit"], ask: ["WebFetch(domain:example.com)"] },
    hooks: { PreToolUse: [{ matcher: "Edit|NotebookEdit", hooks: [{ type: "command", command: "exit 2" }] }] },
  });
  const check = await banyan(place, ["config", "check"]);
  expect(check.stdout.split("\n")).toEqual([
    "The rule 'NotebookEdit' has no effect: Banyan has no tool like NotebookEdit.",
    "hooks.PreToolUse: In the matcher 'Edit|NotebookEdit', 'NotebookEdit' names only tools of other programs, and matches nothing here.",
    "permissions.deny: Bash(rm *) matches shell(rm x)",
    "permissions.ask: WebFetch(domain:example.com) matches fetch(https://example.com)",
    "hooks.PreToolUse: Edit|NotebookEdit matches Edit",
    "The settings have no problems.",
    "",
  ]);
});

import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TrustRecord } from "@banyan/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";

let place: Home;
let user: string;
let project: string;
beforeEach(() => {
  place = home();
  user = join(place.env.BANYAN_HOME ?? "", "config", "settings.json");
  project = join(realpathSync(place.workspace), ".banyan", "settings.json");
});
afterEach(() => place[Symbol.dispose]());

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

async function done(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, stdout, stderr } = await banyan(place, ["config", ...args], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

async function refused(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await banyan(place, ["config", ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  return stderr;
}

describe("banyan config get", () => {
  test("shows each value that counts, and its layer", async () => {
    put(user, '{ "model": "ollama/a", "limits": { "steps": 5 } }');
    const all = await done([], { BANYAN_TEMPERATURE: "0.5" });
    expect(all).toMatch(/^model +user +ollama\/a$/m);
    expect(all).toMatch(/^limits\.steps +user +5$/m);
    expect(all).toMatch(/^temperature +environment +0\.5$/m);
    expect(all).toMatch(/^approval +built-in +ask$/m);
    expect(await done(["get", "limits.steps"])).toMatch(/^limits\.steps +user +5\n$/);
    expect(await done(["get", "limits.cost"])).toBe("limits.cost is not set.\n");
  });

  test("has the same for a script", async () => {
    put(user, '{ "permissions": { "deny": ["fetch"] } }');
    expect(JSON.parse(await done(["get", "permissions.deny", "-o", "json"]))).toEqual({
      key: "permissions.deny",
      value: ["fetch"],
      layers: ["user"],
    });
    expect(JSON.parse(await done(["get", "model", "-o", "json"]))).toBeNull();
    expect(JSON.parse(await done(["get", "-o", "json"]))).toContainEqual({
      key: "approval",
      value: "ask",
      layers: ["built-in"],
    });
  });

  test("S5: takes a project into account when it is trusted", async () => {
    put(project, '{ "model": "ollama/project" }');
    expect(await done(["get", "model"])).toBe("model is not set.\n");
    new TrustRecord({ env: place.env, home: "" }).trust(place.workspace);
    expect(await done(["get", "model"])).toMatch(/^model +project +ollama\/project\n$/);
  });

  test("S10: shows no secrets", async () => {
    put(user, '{ "mcpServers": { "a": { "command": "x", "env": { "API_KEY": "x7Kp9-Lq2zT4" } } } }');
    expect(await done(["get", "mcpServers"])).toContain('{"a":{"command":"x","env":{"API_KEY":"[redacted:secret]"}}}');
    expect(await done(["get", "-o", "json"])).not.toContain("x7Kp9");
  });

  test("names what is wrong and shows the rest", async () => {
    put(user, '{\n  "modle": "a/b", "temperature": 1\n}');
    const { code, stdout, stderr } = await banyan(place, ["config", "get", "temperature"]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `banyan: ${user}:2:3: 'modle' is not known; expected 'model' or 'models'.\n`,
    });
    expect(stdout).toMatch(/^temperature +user +1\n$/);
  });
});

describe("banyan config set", () => {
  test("changes the user's file and keeps its other content", async () => {
    put(user, '{\n    "later": 1,\n    "model": "ollama/a"\n}');
    expect(await done(["set", "model", "ollama/b"])).toBe(`model is set in ${user}.\n`);
    await done(["set", "permissions.deny", '["fetch"]']);
    expect(readFileSync(user, "utf8")).toBe(
      '{\n    "later": 1,\n    "model": "ollama/b",\n    "permissions": {\n        "deny": [\n            "fetch"\n        ]\n    }\n}\n',
    );
    expect(await done(["unset", "model"])).toBe(`model is no longer set in ${user}.\n`);
    expect(JSON.parse(readFileSync(user, "utf8"))).toEqual({ later: 1, permissions: { deny: ["fetch"] } });
  });

  test("changes the project's file when it is told to, as far as a project can set it", async () => {
    await done(["set", "--project", "limits.steps", "5"]);
    expect(JSON.parse(readFileSync(project, "utf8"))).toEqual({ limits: { steps: 5 } });
    expect(await refused("set", "-p", "approval", "all")).toContain('approval: found "all"; expected "ask"');
    expect(existsSync(user)).toBe(false);
  });

  test.each([
    [["set", "modle", "x"], "banyan: 'modle' is not known; expected 'model' or 'models'.\n"],
    [["set", "limits.stps", "1"], "banyan: limits: 'stps' is not known; expected 'steps'.\n"],
    [["set", "temperature", "hot"], 'temperature: found "hot"; expected a number from 0 to 2.\n'],
    [["get", "a..b"], "'a..b' is not a setting. Write it like limits.steps or"],
  ])("refuses %j with exit code 2, and changes nothing", async (args, message) => {
    expect(await refused(...args)).toContain(message);
    expect(existsSync(user)).toBe(false);
  });

  test("does not change an unreadable file", async () => {
    put(user, "{ broken");
    expect(await refused("set", "model", "a/b")).toContain(`${user}:1:3: the JSON is not valid`);
    expect(readFileSync(user, "utf8")).toBe("{ broken");
  });
});

describe("banyan config check", () => {
  test("finds nothing where everything is right", async () => {
    put(user, '{ "model": "ollama/a" }');
    put(project, '{ "limits": { "steps": 5 } }');
    expect(await done(["check"])).toBe("The settings have no problems.\n");
  });

  test("T35: names every problem of all layers, and of agents, with file and line, and exits with 2", async () => {
    put(user, '{\n  "permissions": { "deny": ["shell("] },\n  "limits": { "steps": 0 }\n}');
    put(project, '{\n  "theme": "dark"\n}');
    const agent = join(dirname(user), "agents", "mine.md");
    put(agent, "---\ndescription: [\n---\nText.");
    const { code, stdout, stderr } = await banyan(place, ["config", "check"], { env: { BANYAN_TIMEOUT: "soon" } });
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringContaining(`${user}:2:29: permissions.deny[0]: found "shell("; expected a rule`),
      `${user}:3:24: limits.steps: found 0; expected a whole number above 0.`,
      `${project}:2:3: 'theme' has no effect in a project; set it in ${user} if you want it.`,
      'BANYAN_TIMEOUT: found "soon"; expected a number of seconds above 0.',
      expect.stringContaining(`${agent}:3:1: this is not YAML (`),
      "5 problems.",
    ]);
  });

  test("F103: looks up the names in settings, and finds all that a start says", async () => {
    const agents = { helper: { description: "d", instructions: "i", model: "sonet", tools: ["mcp__gitub__x"] } };
    const keys = { sned: "ctrl+y", send: "ctl+q" };
    const names = {
      fallbacks: ["opnai/x"],
      titleModel: "hauku",
      aliases: { a: "a" },
      keys,
      theme: "gone.json",
      agents,
    };
    put(user, JSON.stringify({ ...names, sandbox: { enabled: "off", writable: ["/nowhere"] } }, undefined, 1));
    const env = { BANYAN_MODLE: "x", BANYAN_THEME: "" };
    const { code, stdout, stderr } = await banyan(place, ["config", "check"], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    for (const line of [
      "BANYAN_MODLE: Banyan does not use a variable of this name; did you mean BANYAN_MODEL?",
      `${user}:9:10: keys: there is no 'sned'; did you mean 'send'? /keys lists the names.`,
      `${user}:9:10: keys.send: there is no key 'ctl+q'; write it as in 'ctrl+r', 'alt+enter' or 'f5'.`,
      `${user}:13:11: theme: ${join(dirname(user), "gone.json")}: it cannot be read: ENOENT`,
      `${user}:27:4: sandbox.writable[0]: there is no /nowhere; name a path that exists.`,
    ])
      expect(stdout).toContain(line);
    const begun = await banyan(place, ["-p", "hi", "--model", "demo/offline"], { env });
    const said = begun.stderr.split("\n").filter((line) => line.includes(user) || line.startsWith("BANYAN_"));
    expect(said.length).toBeGreaterThan(5);
    expect(said.filter((line) => !stdout.includes(line))).toEqual([]);
  });
});

test("banyan config path lists all files and folders, and the unused ones", async () => {
  put(project, "{}");
  const before = await done(["path"]);
  expect(before).toMatch(/^user +.*\/config\/settings\.json +not there$/m);
  expect(before).toMatch(/^project +.*\/\.banyan\/settings\.json$/m);
  expect(before).toMatch(/^project +.*\/\.mcp\.json +not there$/m);
  put(project, '{ "model": "ollama/project" }');
  expect(await done(["path"])).toMatch(/^project +.*settings\.json +not used: the project is not trusted$/m);
});

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { projectOf } from "../places/project.ts";
import { checkConfiguration, readConfiguration, settingAt, unknownSetting, userSettingsFile } from "./configuration.ts";
import { describeFault, SettingsError } from "./fault.ts";
import { parseKey } from "./key.ts";
import type { Settings } from "./schema.ts";

let home: string;

let root: string;

let user: string;

let project: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-settings-")));
  root = join(home, "project");
  mkdirSync(root);
  user = userSettingsFile({ env: {}, home });
  project = projectOf(root).settings;
});

afterEach(() => rmSync(home, { recursive: true }));

function set(file: string, content: object | string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

function read(env: Record<string, string> = {}, flags: Settings = {}) {
  return readConfiguration({ env, home, project: projectOf(root), flags });
}

function problemsWith(env: Record<string, string> = {}): string[] {
  return checkConfiguration({ env, home, project: projectOf(root) }).map(describeFault);
}

const MINE = { description: "reviews", instructions: "Be strict." };

const ALL: Settings = {
  $schema: "https://example.com/settings.schema.json",
  model: "a/b",
  titleModel: "quick",
  temperature: 0,
  topP: 0.5,
  seed: 7,
  maxTokens: 1,
  aliases: { quick: "anthropic/claude-haiku-4-5:low" },
  models: { "mine/qwen-3.5": { price: { input: 0, output: 1.5, cached: 0 }, contextSize: 32_768 } },
  approval: "edits",
  permissions: { deny: ["fetch"], ask: ["edit"], allow: ["shell(npm test*)"] },
  limits: { steps: 5, tokens: 1_000, cost: 0.5, time: 60, depth: 0, policy: "ask" },
  instructions: ["~/rules.md"],
  compaction: { threshold: 0.8, hint: 0.6 },
  memory: { enabled: false, embedModel: "openai/text-embedding-3-small" },
  agents: { reviewer: { ...MINE, model: "quick", tools: ["read"] } },
  mcpServers: {
    files: { command: "npx", args: ["-y", "server"], env: { A: "1" }, cwd: "/", timeout: 1_000, disabled: true },
    docs: { type: "http", url: "https://example.com/mcp", headers: { A: "b" }, oauth: { clientId: "c", scope: "d" } },
  },
  sandbox: { enabled: "require", network: { allow: ["*.example.com"] }, writable: ["/tmp/x"] },
  search: { provider: "searxng", url: "http://localhost:8080" },
  retention: { days: 30 },
  keys: { send: "enter", open: ["ctrl+g", "ctrl+o"], quit: [] },
  theme: "dark",
};

describe("the layers", () => {
  test("without any file, the built-in values apply", () => {
    const { settings, entries, faults } = read();
    expect(settings).toEqual({
      approval: "ask",
      // S26: off until a user agrees.
      memory: { enabled: false },
      sandbox: { enabled: "auto" },
      theme: "auto",
    });
    expect(new Set(entries.flatMap(({ layers }) => layers))).toEqual(new Set(["built-in"]));
    expect(faults).toEqual([]);
  });

  test("a file can set every setting there is", () => {
    set(user, ALL);
    const { $schema: _, ...settings } = ALL;
    const expected = { ...settings, instructions: [join(home, "rules.md")] };
    expect(readConfiguration({ env: {}, home })).toMatchObject({ settings: expected, faults: [] });
  });

  test("B5: a later layer counts more: user, project, environment, flags", () => {
    set(user, { model: "user/m", temperature: 1, maxTokens: 1, theme: "dark" });
    set(project, { model: "project/m", temperature: 0.5, maxTokens: 2 });
    const configuration = read({ BANYAN_MODEL: "environment/m", BANYAN_TEMPERATURE: "0" }, { model: "flags/m" });
    expect(configuration.settings).toMatchObject({
      model: "flags/m",
      temperature: 0,
      maxTokens: 2,
      theme: "dark",
      approval: "ask",
    });
    const layers = ["model", "temperature", "maxTokens", "theme", "approval"].map(
      (key) => settingAt(configuration, [key])?.layers,
    );
    expect(layers).toEqual([["flags"], ["environment"], ["project"], ["user"], ["built-in"]]);
  });

  test("B63: rules and instruction files of all layers join", () => {
    set(user, { permissions: { deny: ["fetch"], allow: ["shell(ls *)"] }, instructions: ["mine.md"] });
    set(project, { permissions: { deny: ["edit(.env*)"], allow: ["shell(npm test*)"] }, instructions: ["docs/a.md"] });
    const configuration = read({}, { permissions: { allow: ["read"] } });
    expect(configuration.settings.permissions).toEqual({
      deny: ["fetch", "edit(.env*)"],
      allow: ["shell(ls *)", "shell(npm test*)", "read"],
    });
    expect(configuration.settings.instructions).toEqual([join(dirname(user), "mine.md"), join(root, "docs/a.md")]);
    expect(settingAt(configuration, ["permissions", "allow"])?.layers).toEqual(["user", "project", "flags"]);
  });

  test("objects are merged name by name, and a setting in one can be asked for", () => {
    set(user, { limits: { steps: 5, cost: 1 }, models: { "a/b.c": { contextSize: 1 } } });
    const configuration = read({ BANYAN_MAX_COST: "2.5" }, { limits: { time: 9 } });
    expect(configuration.settings.limits).toEqual({ steps: 5, cost: 2.5, time: 9 });
    expect(settingAt(configuration, ["limits"])?.layers.toSorted()).toEqual(["environment", "flags", "user"]);
    expect(settingAt(configuration, ["models", "a/b.c", "contextSize"])).toMatchObject({ value: 1, layers: ["user"] });
    expect(settingAt(configuration, ["limits", "depth"])).toBeUndefined();
  });

  test("each variable sets its setting, and an empty variable sets none", () => {
    const { settings } = read({
      BANYAN_MODEL: " a/b ",
      BANYAN_TITLE_MODEL: "a/c",
      BANYAN_TEMPERATURE: "0.5",
      BANYAN_TOP_P: "0.9",
      BANYAN_MODEL_SEED: "7",
      BANYAN_MAX_TOKENS: "100",
      BANYAN_APPROVAL: "edits",
      BANYAN_MAX_STEPS: "3",
      BANYAN_MAX_COST: ".5",
      BANYAN_TIMEOUT: "90",
      BANYAN_MEMORY: "off",
      BANYAN_SANDBOX: "require",
      BANYAN_THEME: "",
    });
    expect(settings).toEqual({
      model: "a/b",
      titleModel: "a/c",
      temperature: 0.5,
      topP: 0.9,
      seed: 7,
      maxTokens: 100,
      approval: "edits",
      limits: { steps: 3, cost: 0.5, time: 90 },
      memory: { enabled: false },
      sandbox: { enabled: "require" },
      theme: "auto",
    });
  });
});

describe("a broken file of the user", () => {
  test("loses the broken setting alone, when nothing is held back by it", () => {
    set(user, '{\n  "model": "a/b",\n  "temperature": "hot",\n  "modle": "x", "aliases": { "a/b": "c/d" }\n}');
    const { settings, faults } = read();
    expect(settings).toMatchObject({ model: "a/b" });
    expect(settings).not.toHaveProperty("temperature");
    expect(faults.map(describeFault)).toEqual([
      `${user}:3:18: temperature: found "hot"; expected a number from 0 to 2.`,
      `${user}:4:3: 'modle' is not known; expected 'model' or 'models'.`,
      `${user}:4:30: aliases: found the name 'a/b'; expected a short name without a slash, as in "quick".`,
    ]);
  });

  test.each([
    ['{ "permissions": { "deny": ["shell("] } }', "permissions.deny[0]: found"],
    ['{ "permissions": { "denny": ["shell"] } }', "permissions: 'denny' is not known; expected 'deny'"],
    ['{ "permisions": { "deny": ["shell"] } }', "'permisions' is not known; expected 'permissions'"],
    ['{ "permissions": { "deny": ["shell"] }, "permissions": {} }', "'permissions' is there twice"],
    ['{ "approval": "askk" }', "approval: found"],
    ['{ "sandbox": { "enabled": true } }', "sandbox.enabled: found true"],
    ['{ "limits": { "cost": "1" } }', "limits.cost: found"],
    ['{ "model": "a/b", }', "the JSON is not valid"],
    ["[]", "found []; expected an object"],
  ])("is refused when a rule or a bound may be lost with it: %s", (text, message) => {
    set(user, text);
    expect(() => read()).toThrow(SettingsError);
    expect(() => read()).toThrow(message);
    expect(problemsWith().join("\n")).toContain(message);
  });

  test.each<[object, string]>([
    [{ model: "" }, 'model: found ""; expected the name of a model'],
    [{ topP: 1.5 }, "topP: found 1.5; expected a number from 0 to 1"],
    [{ seed: 0.5 }, "seed: found 0.5; expected a whole number, 0 or more"],
    [{ temperature: 2.5 }, "temperature: found 2.5; expected a number from 0 to 2"],
    [{ maxTokens: 1.5 }, "maxTokens: found 1.5; expected a whole number above 0"],
    [{ zzz: 5 }, "'zzz' is not known; expected one of $schema, model, fallbacks, titleModel,"],
    [{ models: { gpt: {} } }, "models: found the name 'gpt'; expected the name of a model as provider/model"],
    [{ models: { "a/b-5.4": { prize: {} } } }, "models[\"a/b-5.4\"]: 'prize' is not known; expected 'price'"],
    [{ models: { "a/b": { contextSize: 0 } } }, "models.a/b.contextSize: found 0; expected a whole number above 0"],
    [
      { models: { "a/b": { price: { input: -1, output: 1 } } } },
      "models.a/b.price.input: found -1; expected US dollars per million tokens",
    ],
    [{ models: { "a/b": { price: { input: 1 } } } }, "models.a/b.price.output: found nothing; expected US dollars"],
    [
      { models: { "a/b": { price: { input: 1, output: 1, cachedd: 1 } } } },
      "models.a/b.price: 'cachedd' is not known; expected 'cached'",
    ],
    [{ compaction: { threshold: 0.5, hint: 0.6 } }, "compaction.hint: found 0.6; expected a share below that of"],
    [{ compaction: { enabled: "off" } }, 'compaction.enabled: found "off"; expected true or false'],
    [{ compaction: { instructions: "" } }, 'compaction.instructions: found ""; expected a text'],
    [{ compaction: { backgrond: true } }, "compaction: 'backgrond' is not known; expected 'background'"],
    [{ compaction: { background: 1 } }, "compaction.background: found 1; expected true or false"],
    [{ compaction: { colour: true } }, "compaction: 'colour' is not known; expected one of enabled, model"],
    [{ compaction: { threshold: 1 } }, "compaction.threshold: found 1; expected a share of the context"],
    [{ mcpServers: { a: { command: "x", arg: [] } } }, "mcpServers.a: 'arg' is not known; expected 'args'"],
    [{ mcpServers: { a: {} } }, "mcpServers.a: found {}; expected an object with a command or a url"],
    [{ mcpServers: { a: { url: "ftp://x" } } }, 'mcpServers.a.url: found "ftp://x"; expected an address'],
    [{ mcpServers: { "a b": { command: "x" } } }, "mcpServers: found the name 'a b'; expected a name of letters"],
    [{ keys: { send: [1] } }, "keys.send: found [1]; expected a key"],
    [{ agents: { a: { ...MINE, tools: "read" } } }, 'agents.a.tools: found "read"; expected a list of names of tools'],
    [{ agents: { a: { description: "x" } } }, "agents.a.instructions: found nothing; expected a text"],
    [{ search: { provider: "google" } }, 'search.provider: found "google"; expected "brave", "tavily" or "searxng"'],
    [{ retention: { days: 0 } }, "retention.days: found 0; expected a whole number above 0"],
  ])("%j: %s", (settings, message) => {
    set(user, settings);
    const { faults } = read();
    expect(faults.map(describeFault)).toEqual([expect.stringContaining(message)]);
    expect(faults[0]).toMatchObject({ source: user, line: 1, column: expect.any(Number) });
  });
});

test("the old name BANYAN_MAX_TURNS of BANYAN_MAX_STEPS works if it is alone", () => {
  expect(read({ BANYAN_MAX_TURNS: "4" }).settings.limits).toEqual({ steps: 4 });
  expect(read({ BANYAN_MAX_STEPS: "3", BANYAN_MAX_TURNS: "4" }).settings.limits).toEqual({ steps: 3 });
});

test.each([
  [{ BANYAN_TEMPERATURE: "hot" }, 'BANYAN_TEMPERATURE: found "hot"; expected a number from 0 to 2.'],
  [{ BANYAN_APPROVAL: "none" }, 'BANYAN_APPROVAL: found "none"; expected "plan", "ask", "edits", "sandbox" or "all".'],
  [{ BANYAN_MAX_STEPS: "1.5" }, 'BANYAN_MAX_STEPS: found "1.5"; expected a whole number above 0.'],
  [{ BANYAN_MAX_TURNS: "0" }, 'BANYAN_MAX_TURNS: found "0"; expected a whole number above 0.'],
  [{ BANYAN_MEMORY: "maybe" }, 'BANYAN_MEMORY: found "maybe"; expected true or false.'],
])("a variable with a wrong value is refused: %j", (env, message) => {
  expect(() => read(env)).toThrow(message);
  expect(problemsWith(env)).toEqual([message]);
});

test("a pipe causes no wait, and a file without an end is not read", () => {
  mkdirSync(dirname(user), { recursive: true });
  execFileSync("mkfifo", [user]);
  expect(() => read()).toThrow(`${user}: it is not a file; expected a file that can be read.`);
  rmSync(user);
  writeFileSync(user, `{"model": "${"a".repeat(2_000_000)}"}`);
  expect(() => read()).toThrow(`${user}: it has 2000013 bytes; expected at most 1048576.`);
});

test("a byte-order mark is passed over, and a comment or a comma too many is named with its line", () => {
  set(user, '\ufeff{ "model": "a/b" }');
  expect(read().settings.model).toBe("a/b");
  for (const text of ['{\n  // mine\n  "model": "a/b"\n}', '{\n  "model": "a/b",\n}']) {
    set(user, text);
    expect(problemsWith().join("\n")).toMatch(/settings\.json:[23]:\d+: /);
  }
});

test("a check names all faults in all layers at once", () => {
  set(user, { model: 1, limits: { steps: 0 } });
  set(project, { theme: "dark", temperature: 9 });
  const problems = problemsWith({ BANYAN_MODEL: "", BANYAN_TIMEOUT: "soon" });
  expect(problems.map((problem) => /(\w+)[^ ]*$/.exec(problem.split(": ").slice(0, 2).join(": "))?.[0])).toHaveLength(
    5,
  );
  expect(problems.join("\n")).toMatch(
    /model: .*\n.*limits\.steps: .*\n.*'theme'.*\n.*temperature: .*\n.*BANYAN_TIMEOUT/,
  );
});

test.each([
  ["limits.steps", undefined],
  ["models.a/b.price.input", undefined],
  ["permissions.deny[3]", undefined],
  ["mcpServers.x.oauth.scope", undefined],
  ["keys.anything", undefined],
  ["modle", "'modle' is not known; expected 'model' or 'models'."],
  ["limits.stps", "limits: 'stps' is not known; expected 'steps'."],
  ["model.name", "model: 'name' is not known; expected nothing there."],
])("whether there can be a setting %s", (key, problem) => {
  expect(unknownSetting(parseKey(key) ?? [])).toBe(problem);
});

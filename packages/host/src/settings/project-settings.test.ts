import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { projectOf } from "../places/project.ts";
import { checkConfiguration, readConfiguration, userSettingsFile } from "./configuration.ts";
import { describeFault } from "./fault.ts";
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

describe("S5: a project", () => {
  test("without trust sets nothing, whatever its faults", () => {
    set(project, { model: "project/m", approval: "all" });
    set(join(root, ".mcp.json"), { mcpServers: { evil: { command: "evil" } } });
    const { settings, faults } = readConfiguration({ env: {}, home });
    expect(settings).toMatchObject({ approval: "ask" });
    expect(settings).not.toHaveProperty("model");
    expect(settings).not.toHaveProperty("mcpServers");
    expect(faults).toEqual([]);
  });

  test.each<[string, object]>([
    ['approval: found "all"; expected "ask"', { approval: "all" }],
    ['approval: found "edits"; expected "ask"', { approval: "edits" }],
    ['permissions.allow[0]: found "*"; expected a rule whose pattern', { permissions: { allow: ["*"] } }],
    ['permissions.allow[0]: found "shell"; expected a rule whose', { permissions: { allow: ["shell"] } }],
    ['permissions.allow[0]: found "shell( ** )"; expected a rule', { permissions: { allow: ["shell( ** )"] } }],
    ['permissions.allow[0]: found "shell({a,b}*)"; expected a rule', { permissions: { allow: ["shell({a,b}*)"] } }],
    ['permissions.allow[0]: found "mcp_files_*"; expected', { permissions: { allow: ["mcp_files_*"] } }],
    ['permissions.allow[0]: found "mcp_a_*(src/**)"; expected', { permissions: { allow: ["mcp_a_*(src/**)"] } }],
    ["'aliases' has no effect in a project; set it in ", { aliases: { sonnet: "mine/x" } }],
    ["'models' has no effect in a project", { models: { "a/b": { price: { input: 0, output: 0 } } } }],
    ["'search' has no effect in a project", { search: { provider: "mine", url: "https://evil.example" } }],
    ["'retention' has no effect in a project", { retention: { days: 1 } }],
    ["'keys' has no effect in a project", { keys: { send: "enter" } }],
    ["'theme' has no effect in a project", { theme: "dark" }],
    ['sandbox.enabled: found "off"; expected "require"', { sandbox: { enabled: "off" } }],
    ["sandbox: 'network' is not known", { sandbox: { network: { allow: ["*"] } } }],
    ["sandbox: 'writable' is not known", { sandbox: { writable: ["/"] } }],
    ["memory.enabled: found true; expected false", { memory: { enabled: true } }],
    ["memory: 'embedModel' is not known", { memory: { embedModel: "mine/x" } }],
    ["limits: 'policy' is not known", { limits: { policy: "fail" } }],
    ["'baseURL' is not known", { baseURL: "https://evil.example" }],
    ['instructions: "/etc/passwd" is not in the project; a project can', { instructions: ["/etc/passwd"] }],
    ["instructions: ", { instructions: ["../secret.md"] }],
  ])("cannot loosen anything: %s", (problem, settings) => {
    set(project, settings);
    const plain = readConfiguration({ env: {}, home }).settings;
    const { settings: merged, faults } = read();
    expect(faults.map(describeFault).join("\n")).toContain(problem);
    expect({ ...merged, instructions: undefined }).toEqual({ ...plain, instructions: undefined });
    expect(merged.instructions ?? []).toEqual([]);
  });

  test("B47: a .mcp.json in the form of another program is named, one without servers is not", () => {
    const file = join(root, ".mcp.json");
    set(file, { servers: { it: { command: "x" } } });
    expect(problemsWith()).toEqual([`${file}: it has no 'mcpServers'; expected {"mcpServers":{"name":{...}}}.`]);
    set(file, {});
    expect(problemsWith()).toEqual([]);
  });

  test("a hint and a threshold of two files that do not fit each other are named, and the user's counts", () => {
    set(user, { compaction: { hint: 0.6 } });
    set(project, '{\n  "compaction": {\n    "threshold": 0.5\n  },\n  "maxTokens": 9\n}');
    const problem = `${project}:3:18: compaction.threshold: found 0.5 with the hint 0.6 of ${user}; expected a hint below the threshold, so the project's compaction is not used.`;
    expect(read()).toMatchObject({ settings: { compaction: { hint: 0.6 }, maxTokens: 9 } });
    expect(problemsWith()).toEqual([problem]);
    set(user, { compaction: { hint: 0.4, threshold: 0.8 } });
    expect(read()).toMatchObject({ settings: { compaction: { hint: 0.4, threshold: 0.5 } }, faults: [] });
    set(project, { compaction: { hint: 0.8 } });
    expect(read().settings.compaction).toEqual({ hint: 0.4, threshold: 0.8 });
    expect(problemsWith().join()).toContain(`compaction.hint: found 0.8 with the threshold 0.8 of ${user}; `);
  });

  test("can make the agent more careful, and only that", () => {
    set(user, { approval: "edits", limits: { steps: 10, cost: 1 }, memory: { enabled: true } });
    set(project, {
      approval: "ask",
      limits: { steps: 50, cost: 0.5, tokens: 9 },
      memory: { enabled: false },
      sandbox: { enabled: "require" },
    });
    expect(read().settings).toMatchObject({
      approval: "ask",
      limits: { steps: 10, cost: 0.5, tokens: 9 },
      memory: { enabled: false },
      sandbox: { enabled: "require" },
    });
  });

  test("cannot put another server or agent under a name that the user gave", () => {
    set(user, { mcpServers: { github: { command: "mine" } }, agents: { reviewer: MINE } });
    set(project, {
      mcpServers: { github: { command: "theirs" }, docs: { command: "docs" } },
      agents: { reviewer: { ...MINE, instructions: "Obey." } },
    });
    const { settings, faults } = read();
    expect(settings.mcpServers).toEqual({ github: { command: "mine" }, docs: { command: "docs" } });
    expect(settings.agents).toEqual({ reviewer: MINE });
    expect(faults.map(({ problem }) => problem)).toEqual([
      "'reviewer' is also a name in your own settings, so the project's entry is not used",
      "'github' is also a name in your own settings, so the project's entry is not used",
    ]);
  });

  test("cannot name a file behind a link out of it", () => {
    writeFileSync(join(home, "secret.md"), "secret");
    symlinkSync(join(home, "secret.md"), join(root, "innocent.md"));
    writeFileSync(join(root, "rules.md"), "rules");
    set(project, { instructions: ["innocent.md", "rules.md"] });
    expect(read().settings.instructions).toEqual([join(root, "rules.md")]);
  });

  test("brings the servers of the file that other programs read too; its settings count more", () => {
    set(join(root, ".mcp.json"), {
      inputs: [],
      mcpServers: { a: { command: "shared" }, b: { url: "https://b.example/mcp" } },
    });
    set(project, { mcpServers: { a: { command: "own" } } });
    expect(read()).toMatchObject({
      settings: { mcpServers: { a: { command: "own" }, b: { url: "https://b.example/mcp" } } },
      faults: [],
    });
  });

  test("with a broken file is reported with file and line, and all else works", () => {
    set(user, { model: "user/m" });
    set(project, '{\n  "model": "project/m",\n}');
    const { settings, faults } = read();
    expect(settings.model).toBe("user/m");
    expect(faults.map(describeFault)).toEqual([
      `${project}:3:1: the JSON is not valid at "}"; expected JSON without comments or trailing commas.`,
    ]);
  });
});

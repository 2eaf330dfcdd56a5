import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pathTo } from "@banyan/core";
import { call, scriptedModel } from "@banyan/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openHost } from "../host/open-host.ts";
import { projectOf } from "../places/project.ts";
import { checkConfiguration, proveRules, unknownNamesIn } from "./configuration.ts";
import { settingVariables, unknownVariables } from "./environment.ts";
import { describeFault } from "./fault.ts";

let root: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "unknown-names-"));
  file = join(root, "own/config/settings.json");
  mkdirSync(join(root, "own/config"), { recursive: true });
  mkdirSync(join(root, "project/.banyan"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const place = (env: Readonly<Record<string, string>> = {}) => ({
  env: { BANYAN_HOME: join(root, "own"), ANTHROPIC_API_KEY: "k", BANYAN_NO_DISCOVERY: "1", ...env },
  home: root,
});

/** The reported faults of settings, without the path of the file. */
async function reported(settings: object, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  writeFileSync(file, JSON.stringify(settings, undefined, 1));
  const faults = await unknownNamesIn(place(env), join(root, "project"));
  return faults.map((fault) => describeFault(fault).replaceAll(file, "FILE").replaceAll(root, "ROOT"));
}

describe("F103: a name in a setting is looked up, and reported where it is written", () => {
  test.each<[string, object, RegExp]>([
    [
      "a fallback",
      { fallbacks: ["anthropic/claude-opus-5", "opnai/gpt-5"] },
      /^FILE:4:3: fallbacks\[1\]: there is no provider "opnai"; did you mean openai\/gpt-5\?/,
    ],
    [
      "a fallback without its key",
      { fallbacks: ["openai/gpt-5"] },
      /^FILE:3:3: fallbacks\[0\]: openai needs a key; set OPENAI_API_KEY to your key\.$/,
    ],
    [
      "titleModel",
      { titleModel: "anthropic/claude-haikuu-4-5" },
      /^FILE:2:16: titleModel: no known model is called "anthropic\/claude-haikuu-4-5"; did you mean anthropic\/claude-haiku-4-5\? If it is new, add it to "models"\.$/,
    ],
    ["model", { model: "sonet" }, /^FILE:2:11: model: "sonet" is not the name of a model; did you mean sonnet\?/],
    [
      "the model of summaries",
      { compaction: { model: "hauku" } },
      /^FILE:3:12: compaction\.model: "hauku" is .*; did you mean haiku\?/,
    ],
    [
      "an embedding model",
      { memory: { embedModel: "anthropic/x" } },
      /^FILE:3:17: memory\.embedModel: "anthropic\/x" cannot make vectors/,
    ],
    ["a short name", { aliases: { quick: "grok/x" } }, /^FILE:3:12: aliases\.quick: there is no provider "grok"/],
    [
      "a short name of itself",
      { aliases: { quick: "quick" } },
      /^FILE:3:12: aliases\.quick: the alias "quick" points to itself/,
    ],
    [
      "a model that facts are about",
      { models: { "antropic/x": {} } },
      /^FILE:3:3: models: there is no provider "antropic"; did you mean anthropic\/x\?/,
    ],
    [
      "the model of an agent",
      { agents: { a: { description: "d", instructions: "i", model: "acp/cluade" } } },
      /^FILE:6:13: agents\.a\.model: there is no agent "cluade"; did you mean acp\/claude\?/,
    ],
    [
      "a tool of an agent",
      {
        agents: { a: { description: "d", instructions: "i", tools: ["read", "mcp__gitub__x"] } },
        mcpServers: { github: { command: "gh" } },
      },
      /^FILE:8:5: agents\.a\.tools\[1\]: "mcp__gitub__x" is a tool of no MCP server here; did you mean github\?$/,
    ],
    [
      "a folder of the sandbox",
      { sandbox: { writable: ["~/gone"] } },
      /^FILE:4:4: sandbox\.writable\[0\]: there is no ROOT\/gone; name a path that exists\.$/,
    ],
    [
      "a file of instructions",
      { instructions: ["gone.md"] },
      /^FILE:3:3: instructions\[0\]: there is no ROOT\/own\/config\/gone\.md/,
    ],
    [
      "a search without its key",
      { search: { provider: "brave" } },
      /^FILE:3:15: search\.provider: web search needs an API key; set BRAVE_API_KEY\.$/,
    ],
  ])("%s", async (_what, settings, message) => {
    expect(await reported(settings)).toEqual([expect.stringMatching(message)]);
  });

  test("names that mean something are not reported: new versions, models with facts, local ones, short names of other layers", async () => {
    const settings = {
      model: "anthropic/claude-sonnet-9.5",
      fallbacks: ["anthropic/claude-sonet-5", "ollama/anything", "quick:high", "demo/offline"],
      titleModel: "haiku",
      aliases: { quick: "anthropic/claude-haiku-4-5", cheap: "openai/gpt-5" },
      models: { "anthropic/claude-sonet-5": { contextSize: 1_000 }, "openai/mine": { contextSize: 1_000 } },
      agents: {
        a: {
          description: "d",
          instructions: "i",
          model: "opus",
          tools: ["read", "Bash", "mcp__s__t", "mcp_*"],
        },
      },
      mcpServers: { s: { command: "s" } },
      sandbox: { writable: ["~", "."] },
    };
    expect(await reported(settings)).toEqual([]);
    writeFileSync(join(root, "project/.banyan/settings.json"), '{ "titleModel": "quick", "fallbacks": ["quik"] }');
    const project = projectOf(join(root, "project"));
    const faults = await unknownNamesIn({ ...place(), project }, join(root, "project"));
    expect(faults.map(describeFault)).toEqual([
      expect.stringMatching(
        /project\/\.banyan\/settings\.json:1:40: fallbacks\[0\]: "quik" is not .* did you mean quick\?/,
      ),
    ]);
  });

  test("a variable is named in place of a file; a value that another layer replaces is looked up too", async () => {
    expect(await reported({ titleModel: "sonet" }, { BANYAN_TITLE_MODEL: "opsu" })).toEqual([
      expect.stringMatching(/^FILE:2:16: titleModel: "sonet" is not/),
      expect.stringMatching(/^BANYAN_TITLE_MODEL: "opsu" is not the name of a model; did you mean opus\?/),
    ]);
  });
});

describe("F103: the start reports the findings of config check", () => {
  const open = (env: Readonly<Record<string, string>> = {}) =>
    openHost({
      ...place({ BANYAN_SANDBOX: "off", ...env }),
      cwd: join(root, "project"),
      canAsk: false,
      flags: { model: "demo/offline" },
    });

  test("as notices, except a missing folder of the sandbox, without which no command could run", async () => {
    writeFileSync(file, '{ "titleModel": "sonet", "fallbacks": ["opnai/x"] }');
    const host = await open({ BANYAN_MODLE: "x" });
    expect(host.notices).toEqual([
      "BANYAN_MODLE: Banyan does not use a variable of this name; did you mean BANYAN_MODEL?",
      expect.stringContaining("settings.json:1:17: titleModel"),
      expect.stringContaining("settings.json:1:40: fallbacks[0]"),
    ]);
    await host.close();
    writeFileSync(file, '{ "sandbox": { "writable": ["/nowhere/at/all"] } }');
    await expect(open({ BANYAN_SANDBOX: "auto" })).rejects.toThrow(
      /settings\.json:1:29: sandbox\.writable\[0\]: there is no \/nowhere\/at\/all; name a path that exists\.$/,
    );
  });

  test("tools that only other programs have, and allow rules without effect", () => {
    const agents = { a: { description: "d", instructions: "i", tools: ["NotebookEdit"] } };
    writeFileSync(file, JSON.stringify({ agents, permissions: { allow: ["shell(python3 *)"] } }));
    expect(checkConfiguration(place())).toEqual([]);
    expect(proveRules(place(), root).notices).toEqual([
      expect.stringMatching(/python3/),
      "The agent a cannot use NotebookEdit: Banyan has no such tool.",
    ]);
  });
});

describe("F103: an unknown variable with the prefix BANYAN_", () => {
  test.each([
    ["BANYAN_MODLE", "did you mean BANYAN_MODEL?"],
    ["BANYAN_MAXSTEPS", "did you mean BANYAN_MAX_STEPS?"],
    ["BANYAN_APROVAL", "did you mean BANYAN_APPROVAL?"],
    ["BANYAN_SOMETHING_ELSE", "docs/configuration.md lists the variables."],
  ])("%s is reported with the nearest name", (name, advice) => {
    expect(unknownVariables({ [name]: "1", PATH: "x" }).map(describeFault)).toEqual([
      `${name}: Banyan does not use a variable of this name; ${advice}`,
    ]);
  });

  test("all that the packages read are known", () => {
    const packages = fileURLToPath(new URL("../../..", import.meta.url));
    const sources = globSync("*/src/**/*.{ts,tsx}", { cwd: packages }).filter(
      (path) => !/\.(test|fixture)\.|\/testing\//.test(path),
    );
    const read = sources.flatMap((path) => readFileSync(join(packages, path), "utf8").match(/BANYAN_[A-Z_]+/g) ?? []);
    expect(read.length).toBeGreaterThan(settingVariables.length);
    const env = Object.fromEntries(read.map((name) => [name, "1"]));
    expect(unknownVariables(env)).toEqual([]);
  });
});

describe("F103: a name in the file of an agent is looked up, and reported where it is written", () => {
  const agents = (files: Readonly<Record<string, readonly string[]>>) => {
    for (const [folder, skill] of [["agents"], ["skills/tidy", "tidy"]] as const) {
      mkdirSync(join(root, "own/config", folder), { recursive: true });
      const head = `---\nname: ${skill}\ndescription: Tidies.\n---\nTIDY LIKE THIS`;
      if (skill) writeFileSync(join(root, "own/config", folder, "SKILL.md"), head);
    }
    for (const [name, head] of Object.entries(files)) {
      const text = ["---", "description: Helps.", ...head, "---", "Help."].join("\n");
      writeFileSync(join(root, "own/config/agents", `${name}.md`), text);
    }
  };
  const open = () =>
    openHost({
      cwd: join(root, "project"),
      home: root,
      env: place().env,
      canAsk: false,
      readyLater: true,
      flags: { model: "demo/offline" },
    });

  test.each<[string, readonly string[], RegExp]>([
    [
      "a model",
      ["model: anthropic/claude-haikuu-4-5"],
      /a\.md:3:8: model: .*; did you mean anthropic\/claude-haiku-4-5\?/,
    ],
    [
      "a short name of a model",
      ["model: sonet"],
      /a\.md:3:8: model: "sonet" is not the name of a model; did you mean sonnet\?/,
    ],
    [
      "a tool",
      ["tools: [raed]"],
      /a\.md:3:9: tools\.0: found "raed"; expected names of tools: 'raed' is not a tool; you may mean 'read'\./,
    ],
    [
      "a tool of an MCP server",
      ["tools: [read, mcp__githib__x]"],
      /a\.md:3:15: tools\[1\]: "mcp__githib__x" is a tool of no MCP server here/,
    ],
    ["a skill", ["skills: [tidi]"], /a\.md:3:10: skills\[0\]: there is no skill "tidi"; did you mean tidy\?/],
    ["a key", ["modle: sonnet"], /a\.md:3:\d: modle: an agent has no key "modle"; did you mean model\?/],
    [
      "a limit of another program",
      ["disallowedTools: Bash"],
      /"disallowedTools" has no effect here; limit the agent by tools\./,
    ],
  ])("%s, and the program starts", async (_, head, expected) => {
    agents({ a: head, good: ["model: sonnet", "color: blue", "tools: Read, Grep", "skills: tidy"] });
    const host = await open();
    const { notices, agents: named } = await host.ready();
    await host.close();
    const own = notices.filter((notice) => notice.includes("/agents/"));
    expect(own).toEqual([expect.stringMatching(expected)]);
    // The other agent has everything in its file, and its skill from the beginning.
    const good = named.find(({ name }) => name === "good");
    expect([good?.tools, good?.instructions]).toEqual([["read", "search"], "Help.\n\nTIDY LIKE THIS"]);
  });

  test("an unknown model fails the call that launches the agent, with the nearest name, and not the turn", async () => {
    agents({ a: ["model: anthropic/claude-haikuu-4-5"], b: ["model: sonet"] });
    const host = await open();
    await host.ready();
    const launch = (agent: string) => call("launch_agent", { agent, task: "Help.", expected_output: "Help." });
    const model = scriptedModel([[launch("b")], "Done."]);
    const session = await host.newSession();
    const turn = await host.agent.with({ model }).send("Go", { session });
    const calls = pathTo(session.state, session.state.leaf).flatMap((one) =>
      one.role === "assistant" ? one.calls : [],
    );
    expect([turn.reason, calls.map(({ output }) => output)]).toEqual([
      "answered",
      [expect.stringMatching(/"sonet" is not the name of a model.*sonnet/)],
    ]);
    await session.close();
    await host.close();
  });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { banyan, type Home, home } from "../testing/banyan.ts";
import { modelServer } from "../testing/model-server.ts";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

function set(settings: object): void {
  const config = join(place.env.BANYAN_HOME ?? "", "config");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "settings.json"), JSON.stringify(settings));
}

describe("B65: banyan models", () => {
  test("lists usable providers, and the missing parts of the others", async () => {
    const { code, stdout, stderr } = await banyan(place, ["models"], { env: { ANTHROPIC_API_KEY: "any" } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [usable = "", others = ""] = stdout.split("These cannot:");
    expect(usable).toMatch(/^ {2}anthropic +anthropic\/claude-sonnet-5 +ANTHROPIC_API_KEY is set\.$/m);
    expect(usable).toMatch(/^ {2}demo +demo\/offline /m);
    expect(others).toMatch(/^ {2}openai +openai needs a key\. Set OPENAI_API_KEY to your key\.$/m);
    expect(others).toMatch(/^ {2}ollama +Banyan does not look for this server, because BANYAN_NO_DISCOVERY is 1\.$/m);
    expect(others).toMatch(/^ {2}sonnet +anthropic\/claude-sonnet-5$/m);
  });

  test("lists the models of a provider with what the user knows better", async () => {
    set({ models: { "anthropic/claude-sonnet-5": { price: { input: 0.5, output: 2 }, contextSize: 1234 } } });
    const { code, stdout } = await banyan(place, ["models", "anthropic"]);
    expect(code).toBe(0);
    expect(stdout).toContain("anthropic cannot be used: anthropic needs a key. Set ANTHROPIC_API_KEY to your key.");
    expect(stdout).toMatch(/^ {2}anthropic\/claude-sonnet-5 +\$0\.50 +\$0\.\d+ +\$2 +1,234$/m);
    expect(stdout.match(/^ {2}anthropic\//gm)?.length).toBeGreaterThan(10);
  });

  test("lists the models of a user's own server, without prices", async () => {
    await using server = await modelServer();
    const { stdout } = await banyan(place, ["models", "openai-compatible"], { env: { ...server.env } });
    expect(stdout).toMatch(/^ {2}openai-compatible\/test +— +— +— +—$/m);
    expect(server.asked).toHaveLength(0);
  });

  test("lists agents of other programs, even if an agent lacks a variable", async () => {
    set({ acpAgents: { mine: { command: process.execPath, env: { KEY: `\${NO_SUCH_VARIABLE}` } } } });
    const all = await banyan(place, ["models"]);
    expect(all.stdout.split("These cannot:")[0]).toMatch(/^ {2}acp +acp\/mine +Agents of other programs/m);
    const { stdout } = await banyan(place, ["models", "acp"]);
    for (const name of ["acp/claude", "acp/codex", "acp/gemini", "acp/mine"]) expect(stdout).toContain(`  ${name} `);
  });

  test("as JSON has the same for a script", async () => {
    set({ aliases: { mine: "demo/offline" } });
    const all = JSON.parse((await banyan(place, ["models", "--output", "json"])).stdout);
    expect(all.aliases).toMatchObject({ mine: "demo/offline", sonnet: "anthropic/claude-sonnet-5" });
    expect(all.providers).toContainEqual(expect.objectContaining({ name: "groq", usable: false }));
    const one = JSON.parse((await banyan(place, ["models", "anthropic", "-o", "json"])).stdout);
    expect(one.provider).toMatchObject({ name: "anthropic", usable: false });
    expect(one.models).toContainEqual(
      expect.objectContaining({ name: "anthropic/claude-haiku-4-5", price: expect.anything() }),
    );
  });

  test.each([
    [["models", "nobody"], 'There is no provider "nobody". There are: anthropic, '],
    [["models", "--outptu", "json"], "Unknown option '--outptu' (Did you mean --output?)"],
    [["models", "a", "b"], "Too many arguments"],
  ])("refuses %j with exit code 2 and nothing on stdout", async (args, message) => {
    const { code, stdout, stderr } = await banyan(place, args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`banyan: ${message}`);
  });

  test("names what is wrong with the settings, and goes on without it", async () => {
    set({ models: { sonnet: {} } });
    const { code, stderr } = await banyan(place, ["models"]);
    expect(code).toBe(0);
    expect(stderr).toContain("models: found the name 'sonnet'; expected the name of a model as provider/model");
  });

  test("is a message when it does not stand first", async () => {
    const { stdout } = await banyan(place, ["-p", "models", "--model", "demo/offline", "--output", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ type: "result", exitCode: 0 });
  });
});

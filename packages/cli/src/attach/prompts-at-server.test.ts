import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Home, home } from "../testing/banyan.ts";
import { editor } from "../testing/editor.ts";
import { modelServer } from "../testing/model-server.ts";
import { hasTmux, Pty } from "../testing/pty.ts";
import { connected, serving } from "../testing/serving.ts";

const SERVER = fileURLToPath(new URL("../mcp/program-server.fixture.ts", import.meta.url));
const GUEST = "a-token-of-a-guest-0123456789-0123456789";

let place: Home;
beforeEach(() => {
  place = home();
});
afterEach(() => place[Symbol.dispose]());

function put(path: string, ...lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${lines.join("\n")}\n`);
}

/** A server with prompts of user files, of an MCP server, and of an untrusted project. */
async function withPrompts(env: Readonly<Record<string, string>>, ...more: readonly string[]): Promise<string> {
  const config = join(place.env.BANYAN_HOME ?? "", "config");
  const small = { command: process.execPath, args: [SERVER], env: { NOTE: "a note" } };
  put(join(config, "settings.json"), JSON.stringify({ sandbox: { enabled: "off" }, mcpServers: { small } }));
  put(join(config, "commands", "assess.md"), "---", "description: look at a file", "---", "Assess $1 with care: @$1");
  put(join(config, "commands", "init.md"), "Begin as we do it.");
  put(join(config, "commands", "odd.md"), "---", "description: one: two", "---", "Odd.");
  put(join(place.workspace, ".banyan", "commands", "foreign.md"), "Do what a stranger wants.");
  put(join(place.workspace, "a.txt"), "alpha");
  const [, address] = await serving(place, env, ...more);
  return address;
}

describe.skipIf(!hasTmux)("prompts of a server in an attached terminal", () => {
  test("W65, W74, T54: /name sends prompts of files and MCP servers; names are completed and listed, and failed text stays in the prompt", async () => {
    await using model = await modelServer({ text: "It is fine." }, { text: "Hello!" }, { text: "Begun." });
    const said = () => JSON.stringify(model.asked.at(-1)?.findLast(({ role }) => role === "user")?.content);
    await withPrompts(model.env);
    using pty = Pty.open(place, ["attach", "--new"], model.env);
    // C19: the notice of the server's file parser appears here too.
    expect(await pty.prompted()).toContain("it was read line by line");
    const help = await pty.exchange("/help", /\/small:greet who \[how\] +Says hello\./);
    expect(help).toMatch(/\/assess +look at a file/);
    expect(help).not.toContain("foreign");
    pty.type("/ass");
    await pty.until(/assess +look at a file/, 2);
    pty.type("ess a.txt");
    pty.press("Enter");
    await pty.until(/Attached: a\.txt \(text, 6 B\)/);
    await pty.until("It is fine.");
    for (const part of ["Assess a.txt with care", "alpha"]) expect(said()).toContain(part);
    await pty.prompted();
    pty.enter("/small:greet");
    await pty.until("/small:greet needs who.");
    // The command is back in the prompt, to be completed.
    await pty.until(/^\/small:greet\s*\nchat · /);
    pty.type(' "Ada Lovelace" in a loud voice');
    pty.press("Enter");
    await pty.until("Hello!");
    expect(JSON.parse(said() ?? "")).toBe('Greet {"who":"Ada Lovelace","how":"in a loud voice"} a note');
    await pty.prompted();
    await pty.exchange("/init", "Begun.");
    expect(JSON.parse(said() ?? "")).toBe("Begin as we do it.");
    await pty.exchange("/foreign", "There is no command /foreign.");
  });

  test("S28: a guest gets no prompts", async () => {
    await using model = await modelServer();
    const address = await withPrompts(model.env, "--guest-token", GUEST);
    using pty = Pty.open(place, ["attach", address, "--new", "--plain"], { BANYAN_TOKEN: GUEST });
    await pty.prompted("You are watching:");
    pty.enter("/help");
    expect(await pty.until(/\/exit(.*\n)*.*shows all keys\./)).not.toContain("/assess");
    pty.enter("/assess a.txt");
    await pty.until("View only: with this token");
  });
});

test("W65, W74: an editor at a server has its prompts among its commands, and says them", async () => {
  await using model = await modelServer({ text: "It is fine." }, { text: "Hello!" });
  const address = await withPrompts(model.env);
  const page = await connected(address);
  await page.ask("prompt.list", { wait: 30_000 });
  const at = await editor(place, ["--attach", address]);
  const { sessionId } = await at.agent.request(methods.agent.session.new, { cwd: place.workspace, mcpServers: [] });
  const commands = () =>
    at.updates.map(({ update }) => update).find(({ sessionUpdate }) => sessionUpdate === "available_commands_update");
  await vi.waitFor(() => expect(commands()).toBeDefined(), { timeout: 30_000 });
  expect(commands()).toMatchObject({
    availableCommands: expect.arrayContaining([
      { name: "assess", description: "look at a file" },
      { name: "small:greet", description: "Says hello.", input: { hint: "who [how]" } },
    ]),
  });
  expect(await at.say(sessionId, "/assess a.txt")).toEqual({ stopReason: "end_turn" });
  expect(JSON.stringify(model.asked[0])).toContain("Assess a.txt with care");
  await expect(at.say(sessionId, "/small:greet")).rejects.toMatchObject({
    message: expect.stringContaining("/small:greet needs who."),
  });
  expect(await at.say(sessionId, "/small:greet Ada")).toEqual({ stopReason: "end_turn" });
  expect(JSON.stringify(model.asked[1])).toContain('Greet {\\"who\\":\\"Ada\\"} a note');
});

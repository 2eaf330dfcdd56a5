import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace, runInWorkspace } from "@banyan/tools/workspace";
import { expect, test } from "vitest";
import { openHost } from "../host/open-host.ts";

/** An MCP server whose instructions are the content of two files, as far as it can open them. */
const SERVER = `
const { readFileSync } = require("node:fs");
const read = (file) => { try { return readFileSync(file, "utf8"); } catch { return file + " closed"; } };
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method !== "initialize") return id !== undefined && console.log(JSON.stringify({ jsonrpc: "2.0", id, result: { tools: [] } }));
  const result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" }, instructions: read(".env") + read("later") };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});
`;

test("S42: a deny rule on reading hides files from commands, MCP servers and hooks of the project, at once", async ({
  skip,
}) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-hidden-files-")));
  try {
    const cwd = join(home, "project");
    mkdirSync(cwd);
    mkdirSync(join(home, "own/config"), { recursive: true });
    for (const [name, content] of Object.entries({ ".env": "first secret", later: "second secret", "s.cjs": SERVER }))
      writeFileSync(join(cwd, name), content);
    const settings = {
      permissions: { deny: ["Read(./.env)"] },
      mcpServers: { s: { command: process.execPath, args: [join(cwd, "s.cjs")], cwd } },
    };
    const show = (name: string) => `cat .env later 2>/dev/null; echo ${name}`;
    const hooksOf = (name: string) => ({
      UserPromptSubmit: [{ hooks: [{ type: "command", command: show(name) }] }],
    });
    writeFileSync(join(home, "own/config/settings.json"), JSON.stringify({ ...settings, hooks: hooksOf("mine") }));
    mkdirSync(join(cwd, ".banyan"));
    writeFileSync(join(cwd, ".banyan/settings.json"), JSON.stringify({ hooks: hooksOf("theirs") }));
    const env = { BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1", PATH: process.env.PATH ?? "" };
    const flags = { model: "demo/offline" };
    const host = await openHost({ cwd, home, env, flags, canAsk: true, trusted: true });
    const { mcp, confinesIn } = await host.ready();
    const sandbox = await confinesIn(cwd);
    if (sandbox === undefined) return skip("This machine has no sandbox.");
    const run = async () => {
      const signal = new AbortController().signal;
      const options = { sandbox, timeout: 60_000, signal };
      return (await runInWorkspace(openWorkspace(cwd), "cat .env later 2>/dev/null", options)).output;
    };
    await mcp?.settled();
    expect(mcp?.instructions("s")).toBe(".env closedsecond secret");
    expect(await run()).toBe("second secret");
    const session = await host.newSession();
    const hooked = async () => {
      const parts = await host.hooks.prompt(session, [{ type: "text", text: "Go." }]);
      const said = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      return said.match(/[a-z ]*(?:mine|theirs)$/gm)?.toSorted();
    };
    expect(await hooked()).toEqual(["first secretsecond secretmine", "second secrettheirs"]);
    host.remember("read(later)", "deny");
    expect(await run()).not.toContain("secret");
    expect(await hooked()).toEqual(["first secretsecond secretmine", "theirs"]);
    await expect.poll(() => mcp?.instructions("s"), { timeout: 60_000 }).toBe(".env closedlater closed");
    await host.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

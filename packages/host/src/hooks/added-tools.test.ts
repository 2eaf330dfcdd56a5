import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "@banyan/core";
import { call, collect, scriptedModel } from "@banyan/core/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { openHost } from "../host/open-host.ts";

/** A server that offers another tool after a call of `grow`. */
const SERVER = `
  let tools = ["grow"];
  const write = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === "initialize")
      return write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: "s", version: "1" } } });
    if (method === "tools/list")
      return write({ id, result: { tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) } });
    if (method !== "tools/call") return write({ id, result: {} });
    if (params.name === "grow") {
      tools = ["grow", "grown"];
      write({ method: "notifications/tools/list_changed" });
    }
    write({ id, result: { content: [{ type: "text", text: params.name + " ran" }] } });
  });`;

test("F108: a hook's next turn has a tool that a server added during the hook's turn", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "banyan-added-")));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const cwd = join(home, "project");
  mkdirSync(join(home, "own/config"), { recursive: true });
  mkdirSync(cwd);
  const settings = {
    sandbox: { enabled: "off" },
    mcpServers: { it: { command: process.execPath, args: ["-e", SERVER] } },
    permissions: { allow: ["mcp__it__grow", "mcp__it__grown"] },
    hooks: {
      Stop: [
        {
          hooks: [
            {
              type: "command",
              command:
                "sleep 0.5; [ -e twice ] && exit 0; [ -e once ] && touch twice; touch once; echo go on >&2; exit 2",
            },
          ],
        },
      ],
    },
  };
  writeFileSync(join(home, "own/config/settings.json"), JSON.stringify(settings));
  const env = { ...process.env, BANYAN_HOME: join(home, "own"), BANYAN_NO_DISCOVERY: "1" };
  const host = await openHost({ cwd, home, env, flags: { model: "demo/offline" }, canAsk: true });
  onTestFinished(() => host.close());
  await host.ready();
  await vi.waitFor(() => expect(host.agent.options.tools?.map(({ name }) => name)).toContain("mcp_it_grow"), 20_000);
  const model = scriptedModel([
    "Done.",
    [call("mcp_it_grow", {})],
    "Grown.",
    [call("find_tools", { query: "grown" })],
    [call("call_tool", { tool: "mcp_it_grown", input: {} })],
    "All done.",
  ]);
  const session = await host.newSession();
  await collect(host.agent.with({ model }).chat(say("Begin."), { session }));
  expect(model.requests).toHaveLength(6);
  const results = model.requests.at(-1)?.messages.flatMap((each) => (each.role === "assistant" ? each.results : []));
  expect(JSON.stringify(results)).toContain("grown ran");
  // The first tools of the conversation stay the same, byte for byte.
  expect(new Set(model.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
  await session.close();
});

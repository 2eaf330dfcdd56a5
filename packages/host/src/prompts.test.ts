import { tmpdir } from "node:os";
import { afterEach, expect, test } from "vitest";
import { type McpServers, openServers } from "./mcp/index.ts";
import { listPrompts, saidByPrompt } from "./prompts.ts";
import { redactor } from "./redaction/redactor.ts";

const opened: McpServers[] = [];
afterEach(async () => {
  for (const servers of opened.splice(0)) await servers[Symbol.asyncDispose]();
});

/** Never answers. */
const SILENT = "setInterval(() => {}, 1000)";
/** Lists the prompts `Big Tree` and `small`, and says none. */
const HANGS = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const result = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { prompts: {} }, serverInfo: { name: "x", version: "1" } },
    "prompts/list": { prompts: [{ name: "Big Tree" }, { name: "small", description: "A small one." }] },
  }[method];
  if (result) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});`;

async function host(servers: Readonly<Record<string, string>>) {
  const entries = Object.entries(servers).map(([name, code]) => [
    name,
    { command: process.execPath, args: ["-e", code] },
  ]);
  const mcp = await openServers({ env: {}, home: tmpdir(), cwd: tmpdir() }, Object.fromEntries(entries));
  opened.push(mcp);
  return { ready: async () => ({ commands: [], mcp }) as never, redact: redactor({ env: {} }) };
}

const { signal } = new AbortController();

test("W65: a prompt of a server is one word, whatever it is called there; whoever lists them may wait for servers", async () => {
  const { prompts, starting } = await listPrompts(await host({ Trees: HANGS }), 10_000, signal);
  expect(starting).toEqual([]);
  expect(prompts).toEqual([
    { name: "trees:big_tree", description: "a prompt of Trees", arguments: [], server: "Trees" },
    { name: "trees:small", description: "A small one.", arguments: [], server: "Trees" },
  ]);
});

test("W65: a server that is not there in time, or does not say its prompt in time, is named in one sentence", async () => {
  const place = await host({ trees: HANGS, late: SILENT });
  const late = saidByPrompt(place, { name: "late:one" }, { signal, starting: 1 });
  await expect(late).rejects.toThrow(
    "There is no prompt /late:one yet: the MCP server late is still starting. Try again when it is there.",
  );
  await listPrompts(place, 1, signal);
  const hangs = async () => {
    await saidByPrompt(place, { name: "trees:SMALL" }, { signal, starting: 1_000, filling: 20 });
  };
  await expect
    .poll(() => hangs().catch(({ message }) => message))
    .toBe("The MCP server trees has not said within 0.02 s what its prompt small says. Try again.");
});

import { tmpdir } from "node:os";
import { afterEach, expect, test } from "vitest";
import { type McpServers, openServers } from "../mcp/index.ts";
import { redactor } from "../redaction/redactor.ts";
import { expandPrompt, listPrompts } from "./prompts.ts";

const opened: McpServers[] = [];
afterEach(async () => {
  for (const servers of opened.splice(0)) await servers[Symbol.asyncDispose]();
});

/** A server that never answers. */
const SILENT = "setInterval(() => {}, 1000)";
/** A server that lists prompts and never sends their text. */
const listing = (...prompts: readonly object[]) => `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const result = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { prompts: {} }, serverInfo: { name: "x", version: "1" } },
    "prompts/list": ${JSON.stringify({ prompts })},
  }[method];
  if (result) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});`;
const HANGS = listing({ name: "Big Tree" }, { name: "small", description: "A small one." });

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

test("W65: a server's prompt has a one-word name, and its list may wait for servers", async () => {
  const { prompts, starting } = await listPrompts(await host({ Trees: HANGS }), 10_000, signal);
  expect(starting).toEqual([]);
  expect(prompts).toEqual([
    { name: "trees:big_tree", description: "a prompt of Trees", arguments: [], server: "Trees" },
    { name: "trees:small", description: "A small one.", arguments: [], server: "Trees" },
  ]);
});

test("W65: one sentence names a server that is late, or returns its prompt late", async () => {
  const place = await host({ trees: HANGS, late: SILENT });
  const late = expandPrompt(place, { name: "late:one" }, { signal, starting: 1 });
  await expect(late).rejects.toThrow(
    "There is no prompt /late:one yet: the MCP server late is still starting. Try again when it is ready.",
  );
  await listPrompts(place, 1, signal);
  const hangs = async () => {
    await expandPrompt(place, { name: "trees:SMALL" }, { signal, starting: 1_000, filling: 20 });
  };
  await expect
    .poll(() => hangs().catch(({ message }) => message))
    .toBe("The MCP server trees did not send its prompt small within 0.02 s. Try again.");
});

test("W65, S12: the first of two prompts with the same name exists, and names have no terminal or direction characters", async () => {
  const fields = [{ name: "\u202elevel\u001b[2J", required: true }, { name: "a\nb" }];
  const first = { name: "Big \u001b]0;x\u0007Tree\u202e", description: "First.", arguments: fields };
  const place = await host({ trees: listing(first, { name: "big_]0;xtree", description: "Second." }) });
  const { prompts } = await listPrompts(place, 10_000, signal);
  expect(prompts.map(({ name, description, hint }) => [name, description, hint])).toEqual([
    ["trees:big_]0;xtree", "First.", "level[2J [a b]"],
  ]);
  await expect(expandPrompt(place, { name: "trees:big_]0;xtree" }, { signal })).rejects.toThrow(
    "/trees:big_]0;xtree needs level[2J.",
  );
});

test("W65: an argument with the name of an object's property is requested like any other", async () => {
  const place = await host({
    trees: listing({ name: "explain", arguments: [{ name: "constructor", required: true }] }),
  });
  await listPrompts(place, 10_000, signal);
  for (const values of [undefined, {}])
    await expect(expandPrompt(place, { name: "trees:explain", values }, { signal, filling: 20 })).rejects.toThrow(
      "/trees:explain needs constructor.",
    );
  const given = { name: "trees:explain", values: { constructor: "of trees" } };
  await expect(expandPrompt(place, given, { signal, filling: 20 })).rejects.toThrow("did not send its prompt");
});

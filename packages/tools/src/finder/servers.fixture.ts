import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "@banyan/core";
import { agentTool } from "../mcp/tool.ts";
import { toolNames } from "../mcp/tool-name.ts";

// servers.fixture.jsonl has the tools of MCP servers as their packages listed them, one per line. The line above them
// names the server, with its package, its version and the definitions that its schemas share.

type ListedTool = Parameters<typeof agentTool>[2];
type Line = { readonly server: string; readonly $defs?: object } | ListedTool;

/** Returns the tools of all these servers, as an agent gets them. */
export function toolsOfServers(): Tool[] {
  const lines = readFileSync(join(import.meta.dirname, "servers.fixture.jsonl"), "utf8")
    .trim()
    .split("\n");
  const listed: { readonly server: string; readonly tool: ListedTool }[] = [];
  let of: Extract<Line, { readonly server: string }> = { server: "" };
  for (const line of lines.map((text) => JSON.parse(text) as Line)) {
    if ("server" in line) of = line;
    else {
      const { $defs } = of;
      const inputSchema = { ...line.inputSchema, ...($defs && { $defs }) };
      listed.push({ server: of.server, tool: { ...line, inputSchema } });
    }
  }
  const names = toolNames(listed.map(({ server, tool }) => ({ server, tool: tool.name })));
  return listed.map(({ server, tool }, index) => {
    return agentTool(server, names[index] ?? "", tool, async () => ({ content: [] }));
  });
}

import { type McpServerEntry, readEntry } from "@banyan/tools/mcp/entry";
import type { Settings } from "./schema.ts";

/** The MCP servers of settings, by their names; those that are switched off included. */
export function mcpServersOf({ mcpServers = {} }: Pick<Settings, "mcpServers">): Record<string, McpServerEntry> {
  return Object.fromEntries(Object.entries(mcpServers).map(([name, entry]) => [name, readEntry(name, entry)]));
}

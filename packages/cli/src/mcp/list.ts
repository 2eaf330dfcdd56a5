import { visibleLine } from "@banyan/core/shown";
import { type ConfiguredServer, configuredServers, type McpContext } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import { excerptLine } from "../show/fit-text.ts";
import { table } from "../show/table.ts";

const WIDTH = 80;

/** Lists the effective servers. Values of variables and headers are usually secrets, so they are not printed. */
export function listMcpServers(
  context: McpContext,
  output: "text" | "json",
  write: (text: string) => void,
  warn: (sentence: string) => void,
): void {
  const { servers, untrusted, faults } = configuredServers(context);
  for (const fault of faults) warn(fault);
  if (output === "json") return write(`${JSON.stringify(servers.map(withoutValues), null, 2)}\n`);
  if (servers.length === 0)
    write(`No MCP servers are set up. ${ownCommand("mcp add --help")} explains how to add a server.\n`);
  const rows = servers.map((server) => [
    server.name,
    server.layer === "user" ? "yours" : server.layer,
    server.entry.disabled ? "off" : "",
    excerptLine(
      "command" in server.entry ? [server.entry.command, ...(server.entry.args ?? [])].join(" ") : server.entry.url,
      WIDTH,
    ),
  ]);
  for (const line of table(rows)) write(`${line}\n`);
  if (untrusted.length === 0) return;
  write("\nThe project has these MCP servers. They are not used until you trust it (start banyan here to be asked):\n");
  const waiting = untrusted.map(({ name, description }) => [`  ${visibleLine(name)}`, visibleLine(description)]);
  for (const line of table(waiting)) write(`${line}\n`);
}

function withoutValues({ name, layer, entry }: ConfiguredServer): object {
  if ("url" in entry) {
    const { url, headers, oauth, disabled = false } = entry;
    return { name, layer, disabled, url, headers: Object.keys(headers ?? {}), signsIn: oauth?.grant ?? "when asked" };
  }
  const { command, args = [], env, cwd, disabled = false } = entry;
  return { name, layer, disabled, command, args, env: Object.keys(env ?? {}), ...(cwd !== undefined && { cwd }) };
}

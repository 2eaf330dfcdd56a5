import type { Tool } from "@banyan/core";
import { offeredName, providerName } from "@banyan/core/conversation";

/** The properties by which a rule or a hook can name a tool. */
export type NamedTool = Pick<Tool, "name" | "offeredBy" | "offeredAs">;

/** Returns all names of a tool: `mcp__server__tool` for a server's tool, then the model's name for it. */
export function toolRuleNames({ name, offeredBy, offeredAs }: NamedTool): readonly string[] {
  if (offeredBy === undefined || offeredAs === undefined) return [name];
  const names = formsOf(offeredBy).flatMap((server) => formsOf(offeredAs).map((tool) => offeredName({ server, tool })));
  return [...new Set([...names, name])];
}

/** Returns whether a name means a tool. `mcp__server` means all tools of the server; a final `*` means any text. */
export function meansTool(written: string, tool: NamedTool): boolean {
  const names = toolRuleNames(tool);
  if (written.endsWith("*")) return names.some((name) => name.startsWith(written.slice(0, -1)));
  return names.includes(written) || serverNames(tool).includes(written);
}

/**
 * Returns whether a name means the tool of this server and of no other configured server. `mcp__a__b__c` can mean the
 * tool `b__c` of `a`, or `c` of `a__b`. An allow rule then applies to neither (S44).
 */
export function meansOnly(written: string, tool: NamedTool, servers: readonly string[]): boolean {
  const { name, offeredBy, offeredAs } = tool;
  if (offeredBy === undefined || offeredAs === undefined) return true;
  const others = servers.filter((server) => server !== offeredBy);
  // The name for providers is the tool's own; another server fits only as `mcp__server__tool`.
  if (written === name) return !others.some((server) => spells(written, server));
  const meant = serversMeant(written, [offeredBy, ...others]);
  if (meant.length === 0) return !written.startsWith("mcp__");
  return meant.every((server) => server === offeredBy);
}

/** Returns the configured servers that a name can mean; none if the name contains no whole server name. */
export function serversMeant(written: string, servers: readonly string[]): readonly string[] {
  const begun = servers.filter((server) => written.startsWith(serverPrefix(server)));
  // A name for providers belongs to the longest matching server; those of other servers contain a digest.
  const longest = Math.max(0, ...begun.map((server) => serverPrefix(server).length));
  return servers.filter(
    (server) => spells(written, server) || (begun.includes(server) && serverPrefix(server).length === longest),
  );
}

function spells(written: string, server: string): boolean {
  return formsOf(server).some((form) => written === `mcp__${form}` || written.startsWith(`mcp__${form}__`));
}

function serverPrefix(server: string): string {
  return providerName(`mcp_${server}_`);
}

/** Returns other servers that can have a tool with the same full name. */
export function namesakesOf(tool: NamedTool, servers: readonly string[]): readonly string[] {
  const names = toolRuleNames(tool).filter((name) => name !== tool.name);
  const fitting = names.flatMap((name) => serversMeant(name, servers));
  return [...new Set(fitting)].filter((server) => server !== tool.offeredBy);
}

/** Returns a sentence for each allow rule that has no effect because its name fits several MCP servers. */
export function sharedNames(
  allow: readonly { readonly tool: string }[],
  { mcpServers = {} }: { readonly mcpServers?: Readonly<Record<string, unknown>> | undefined },
): string[] {
  return allow.flatMap(({ tool }) => {
    const meant = /^mcp__|\*$/.test(tool) ? serversMeant(tool, Object.keys(mcpServers)) : [];
    if (meant.length < 2) return [];
    return `The allow rule '${tool}' matches several MCP servers (${meant.join(" and ")}), so the rule allows nothing. Rename one of the servers.`;
  });
}

/** Returns the names that mean all tools of a server. */
export function serverNames({ offeredBy, offeredAs }: NamedTool): readonly string[] {
  return offeredBy === undefined || offeredAs === undefined ? [] : formsOf(offeredBy).map((form) => `mcp__${form}`);
}

function formsOf(name: string): readonly string[] {
  return [...new Set([name, providerName(name)])];
}

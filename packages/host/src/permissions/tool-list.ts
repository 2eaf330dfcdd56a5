import type { NamedAgent, Tool } from "@banyan/core";
import type { z } from "zod";
import { meansOnly, meansTool } from "./named-tool.ts";
import { adviceOnName, foreignTool, isAbsentTool, isToolName } from "./tool-names.ts";

/** Makes a schema of tool names refuse a name that no tool can have, with the nearest names. */
export function toolList<Names extends z.ZodType<readonly string[]>>(names: Names) {
  return names.superRefine((list, context) => {
    for (const [index, name] of list.entries()) {
      const message = `names of tools: '${name}' is not a tool; ${adviceOnName(name)}`;
      if (!isToolName(name)) context.addIssue({ code: "custom", path: [index], message });
    }
  });
}

/**
 * Returns an agent whose tool names are resolved at launch: names of Banyan, Claude Code, Codex and MCP tools, as in
 * rules. A name that fits several MCP servers means no tool (S44).
 */
export function withToolsMeant(
  agent: NamedAgent,
  tools: () => readonly Tool[],
  servers: readonly string[],
): NamedAgent {
  const { tools: list } = agent;
  if (list === undefined) return agent;
  return {
    ...agent,
    get tools() {
      const there = tools();
      return [...new Set(list.flatMap((name) => toolsMeant(name, there, servers)))];
    },
  };
}

function toolsMeant(written: string, tools: readonly Tool[], servers: readonly string[]): readonly string[] {
  if (isAbsentTool(written)) return [];
  const known = foreignTool(written)?.tools;
  if (known) return known.filter((own) => tools.some(({ name }) => name === own));
  if (!written.startsWith("mcp_")) return [written];
  const offered = tools.filter((tool) => tool.offeredAs !== undefined && meansTool(written, tool));
  return offered.filter((tool) => meansOnly(written, tool, servers)).map(({ name }) => name);
}

/** Returns a sentence for each tool in an agent's list that exists only in other programs. */
export function absentInLists(agents: readonly NamedAgent[]): readonly string[] {
  return agents.flatMap(({ name, tools = [] }) =>
    tools.filter(isAbsentTool).map((tool) => `The agent ${name} cannot use ${tool}: Banyan has no such tool.`),
  );
}

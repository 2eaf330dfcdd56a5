import type { Call } from "./message.ts";

/** A tool of an MCP server, by the names that the configuration and the server give. */
export interface OfferedTool {
  /** The name of the server in the settings. */
  readonly server: string;
  /** The name of the tool at that server. */
  readonly tool: string;
}

/** The name by which rules, hooks, users and telemetry know the tool of a server: `mcp__server__tool`. */
export function offeredName({ server, tool }: OfferedTool): string {
  return `mcp__${server}__${tool}`;
}

/** The name with `_` for each character that a model provider refuses in the name of a tool. */
export function providerName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** The name of a call's tool for users. The model knows a server's tool by another name, `call.tool`. */
export function toolOf({ tool, about }: Pick<Call, "tool" | "about">): string {
  return about?.offered ? offeredName(about.offered) : tool;
}

/**
 * A tool of an MCP server: the server's name in the settings, and the tool's name on the server.
 * See {@link offeredName}.
 */
export interface OfferedTool {
  /** Name of the server in the settings. */
  readonly server: string;
  /** Name of the tool on that server. */
  readonly tool: string;
}

/**
 * Returns the name of a server's tool for rules, hooks, users and telemetry: `mcp__server__tool`.
 * @example offeredName({ server: "notes", tool: "add" }) // "mcp__notes__add"
 */
export function offeredName({ server, tool }: OfferedTool): string {
  return `mcp__${server}__${tool}`;
}

/**
 * Returns the name with `_` for each character that model providers reject in tool names.
 * @example providerName("mcp__notes__add.note") // "mcp__notes__add_note"
 */
export function providerName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

interface CallOfTool {
  readonly tool: string;
  readonly about?: { readonly offered?: OfferedTool } | undefined;
}

/**
 * Returns the name of a call's tool for users. The model may use another name (`call.tool`) for a server's tool.
 * @example toolNameOf({ tool: "read" }) // "read"
 */
export function toolNameOf({ tool, about }: CallOfTool): string {
  return about?.offered ? offeredName(about.offered) : tool;
}

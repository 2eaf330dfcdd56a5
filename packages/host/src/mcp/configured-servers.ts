import { nearestNameAdvice } from "@banyan/core/shown";
import { describeEntry } from "@banyan/tools/mcp/consent";
import { McpError, type McpServerEntry, readEntry } from "@banyan/tools/mcp/entry";
import { projectOf } from "../places/project.ts";
import {
  changeSetting,
  describeFault,
  type LayerName,
  readConfiguration,
  settingAt,
  userSettingsFile,
} from "../settings/index.ts";
import { readJsonFile } from "../settings/json-file.ts";
import { isPlainObject, valueAt } from "../settings/key.ts";
import { mcpServersOf } from "../settings/schema.ts";
import { TrustRecord } from "../trust/trust-record.ts";
import { forgetSignIn, type McpContext } from "./open.ts";

/** An MCP server of the settings. */
export interface ConfiguredServer {
  readonly name: string;
  readonly entry: McpServerEntry;
  /** The source of the server's setting. */
  readonly layer: LayerName;
  /** The command or address on one line. May contain secrets. */
  readonly description: string;
}

/** The MCP servers for a directory, and problems of the settings. */
export interface ConfiguredServers {
  readonly servers: readonly ConfiguredServer[];
  /** Servers of an untrusted project, which are not used (S5, S6). */
  readonly untrusted: readonly { readonly name: string; readonly description: string }[];
  /** A sentence for each fault in the settings. */
  readonly faults: readonly string[];
}

/** Returns the MCP servers of the user and of a trusted project. Throws a `SettingsError`. */
export function configuredServers({ env, home, cwd }: McpContext): ConfiguredServers {
  const trust = new TrustRecord({ env, home }).trustOf(cwd);
  const project = trust.state === "trusted" ? projectOf(cwd) : undefined;
  const configuration = readConfiguration({ env, home, project });
  const servers = Object.entries(mcpServersOf(configuration.settings)).map(([name, entry]) => {
    const [layer = "user"] = settingAt(configuration, ["mcpServers", name])?.layers ?? [];
    return { name, entry, layer, description: describeEntry(entry) };
  });
  const waiting = "items" in trust ? trust.items.filter(({ kind }) => kind === "MCP server") : [];
  return {
    servers,
    untrusted: waiting.map(({ name, detail }) => ({ name, description: detail })),
    faults: configuration.faults.map(describeFault),
  };
}

/**
 * Adds a server to the user's settings and returns the settings file. Throws an `McpError` for an invalid entry or a
 * name in use, and a `SettingsError` for a broken file.
 */
export function addMcpServer(context: McpContext, name: string, settings: unknown): string {
  const file = userSettingsFile(context);
  const entry = readEntry(name, settings);
  if (ownServers(context).has(name)) {
    throw new McpError(
      "entry",
      `There is an MCP server "${name}" already. Remove that server first, or choose another name.`,
    );
  }
  changeSetting(file, ["mcpServers", name], entry);
  return file;
}

/** Removes a server and its sign-in data. Returns the settings file. Throws an `McpError` for an unknown server. */
export async function removeMcpServer(context: McpContext, name: string): Promise<string> {
  const file = userSettingsFile(context);
  const servers = ownServers(context);
  const entry = servers.get(name);
  if (entry === undefined) throw unknownServer(name, [...servers.keys()], "in your settings");
  const json = readJsonFile(file);
  const all = json.state === "read" ? valueAt(json.value, ["mcpServers"]) : undefined;
  const isLast = isPlainObject(all) && Object.keys(all).length === 1;
  changeSetting(file, isLast ? ["mcpServers"] : ["mcpServers", name], undefined);
  await forgetSignIn(context, name, entry);
  return file;
}

/** Makes the error for an unknown server name. */
export function unknownServer(name: string, names: readonly string[], where: string): McpError {
  return new McpError("unknown", `There is no MCP server "${name}" ${where}. ${nearestNameAdvice(name, names)}`);
}

function ownServers({ env, home }: McpContext): Map<string, McpServerEntry> {
  return new Map(Object.entries(mcpServersOf(readConfiguration({ env, home }).settings)));
}

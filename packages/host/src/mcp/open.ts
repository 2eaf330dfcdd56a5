import { join } from "node:path";
import type { EnvironmentVariables } from "@banyan/models";
import type { McpOptions, McpServers } from "@banyan/tools/mcp";
import type { McpServerEntry } from "@banyan/tools/mcp/entry";
import { directories } from "../places/directories.ts";
import { ownCommand } from "../programs/own-command.ts";

/** The environment and folders of a user's MCP servers. */
export interface McpContext {
  readonly env: EnvironmentVariables;
  readonly home: string;
  /** The working directory. */
  readonly cwd: string;
}

/** Callbacks for questions and changes of MCP servers. */
export type OpenServersOptions = Pick<McpOptions, "ask" | "onChange" | "openAddress" | "traceparent" | "wrap">;

/** Connects to MCP servers in the background. Loads the MCP code on demand, since most users have no servers. */
export async function openServers(
  { env, home, cwd }: McpContext,
  servers: Readonly<Record<string, McpServerEntry>>,
  options: OpenServersOptions = {},
): Promise<McpServers> {
  const { openMcpServers } = await import("@banyan/tools/mcp");
  const credentials = credentialsIn({ env, home });
  const howToSignIn = (server: string) => ownCommand(["mcp", "login", server], env);
  return openMcpServers({ servers, env, workspace: cwd, credentials, howToSignIn, ...options });
}

/** Removes the tokens of a server, so that the user must sign in again. */
export async function signOutOfServer(context: McpContext, name: string, entry: McpServerEntry): Promise<void> {
  const { credentialsFor } = await import("@banyan/tools/mcp");
  await credentialsFor(credentialsIn(context), name, entry, context.env)?.change({ tokens: undefined });
}

/** Removes all sign-in data of a server. */
export async function forgetSignIn(context: McpContext, name: string, entry: McpServerEntry): Promise<void> {
  const { credentialsFor } = await import("@banyan/tools/mcp");
  await credentialsFor(credentialsIn(context), name, entry, context.env)?.remove();
}

function credentialsIn(context: Pick<McpContext, "env" | "home">): string {
  return join(directories(context.env, context.home).data, "mcp");
}

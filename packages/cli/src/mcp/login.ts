import { configuredServers, type McpPlace, signOut } from "@banyan/host/mcp";
import type { ExitCode } from "../exit.ts";
import { exitCodes } from "../exit.ts";
import { UsageError } from "../problem.ts";
import { connected } from "./connected.ts";
import { unusable } from "./unusable.ts";

/** Signs in to a server anew, in a browser. */
export async function login(
  place: McpPlace,
  name: string,
  write: (text: string) => void,
  warn: (sentence: string) => void,
): Promise<ExitCode> {
  const known = configuredServers(place).servers.find((server) => server.name === name);
  if (known && "command" in known.entry) {
    throw new UsageError(`${name} is a program: there is nothing to sign in to. Its secrets go into env.`);
  }
  if (known) await signOut(place, name, known.entry);
  await using server = await connected(place, name, true, write);
  if (server.state.status !== "ready") return unusable(server, warn);
  write(`${name} is ready, with ${server.state.tools} tools.\n`);
  return exitCodes.done;
}

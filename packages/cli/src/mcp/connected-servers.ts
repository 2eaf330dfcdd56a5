import { spawn } from "node:child_process";
import { visibleLine } from "@banyan/core/shown";
import { pathWithout } from "@banyan/host/find-program";
import { configuredServers, type McpContext, type McpServers, openServers, unknownServer } from "@banyan/host/mcp";
import { type ExitCode, exitCodes } from "../program/exit.ts";
import { lastLines } from "../show/fit-text.ts";

/** The MCP servers of the settings, and the state of the server to which the command connected. */
export interface ConnectedServers {
  readonly servers: McpServers;
  readonly state: McpServers["states"][number];
}

/** Connects to a server of the settings, even a disabled one. With `mayOpen`, opens a sign-in page if one is needed. */
export async function connected(
  context: McpContext,
  name: string,
  mayOpen: boolean,
  tell: (text: string) => void,
): Promise<ConnectedServers & AsyncDisposable> {
  const { servers: configured } = configuredServers(context);
  const wanted = configured.find((server) => server.name === name);
  if (wanted === undefined)
    throw unknownServer(
      name,
      configured.map((server) => server.name),
      "here",
    );
  const { disabled: _, ...entry } = wanted.entry;
  const servers = await openServers(
    context,
    { [name]: entry },
    mayOpen ? { openAddress: (address) => openAddress(address, context.env, tell) } : {},
  );
  await servers.settled();
  const [state] = servers.states;
  if (state === undefined) throw new Error(`No information about ${name}.`);
  return { servers, state, [Symbol.asyncDispose]: () => servers.close() };
}

/** Maximum lines, and characters per line, shown of a failed server's output. */
const LINES = 10;
const WIDTH = 200;

/** Explains why a server cannot be used, and quotes the server's last output. */
export function reportUnusable({ servers, state }: ConnectedServers, warn: (sentence: string) => void): ExitCode {
  const { name } = state;
  for (const line of lastLines(servers.journal(name), LINES, WIDTH)) warn(`${name} wrote: ${line}`);
  warn(`${name} cannot be used: ${"reason" in state ? state.reason : state.status}.`.replace(/\.\.$/, "."));
  return state.status === "needs-auth" ? exitCodes.authentication : exitCodes.failed;
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Prints an address, and opens it in a browser if there is one. `BROWSER` selects the browser. */
function openAddress(address: URL, env: McpContext["env"], tell: (text: string) => void): void {
  const href = visibleLine(address.href);
  if (address.protocol !== "https:" && address.protocol !== "http:") {
    tell(`This sign-in address is not a web address, so no browser opens it: ${href}\n`);
    return;
  }
  tell(`Sign in at ${visibleLine(address.host)} in your browser, and come back. If no page opens:\n${href}\n`);
  const [command, ...args] = env.BROWSER ? [env.BROWSER] : (OPENERS[process.platform] ?? ["xdg-open"]);
  const PATH = pathWithout([process.cwd()], env.PATH ?? "");
  const browser = spawn(command, [...args, address.href], { stdio: "ignore", detached: true, env: { ...env, PATH } });
  browser.on("error", () => {});
  browser.unref();
}

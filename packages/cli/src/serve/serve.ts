import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Host, openHost } from "@banyan/host";
import { pathWithout } from "@banyan/host/find-program";
import { waitForServers } from "@banyan/host/mcp";
import { ownCommand } from "@banyan/host/own-command";
import {
  builtPage,
  isLoopbackAddress,
  keptToken,
  type RunningServer,
  type ServeOptions,
  serve as startServer,
} from "@banyan/server";
import { type ExitCode, exitCodes, signalExits } from "../program/exit.ts";
import { hostFlags, isProjectTrusted } from "../program/host-options.ts";
import { reportedProblem, UsageError } from "../program/problem.ts";
import { announceServer } from "../program/server-announcement.ts";
import { plainLine } from "../show/plain-text.ts";
import type { ServeArguments } from "./arguments.ts";
import { sharedStore } from "./shared-store.ts";

/** `banyan serve`: serves until a signal arrives. Resolves with the exit code. */
export async function runServe(args: ServeArguments): Promise<ExitCode> {
  let host: Host | undefined;
  const say = (sentence: string) => {
    process.stdout.write(`${plainLine(sentence)}\n`);
  };
  const warn = (sentence: string) => {
    process.stderr.write(`banyan: ${plainLine(sentence)}\n`);
  };
  try {
    const shared = await sharedStore(args, warn);
    host = await openHost({
      ...(shared && { store: shared.store, machine: shared.machine }),
      cwd: resolve(args.cwd ?? "."),
      env: process.env,
      home: homedir(),
      flags: hostFlags(args),
      canAsk: true,
      notice: warn,
      trusted: isProjectTrusted({ cwd: resolve(args.cwd ?? "."), trust: args.trust }, warn),
    });
    for (const notice of host.notices) warn(notice);
    // If the host fails to start, conversations stay readable, and each new turn gets the error.
    tellMissing(host, warn).catch((error: unknown) => warn(reportedProblem(error).message));
    const server = await startListening(serveOptions(args, host, warn, shared));
    using _ = announceServer({
      address: server.address,
      process: process.pid,
      workspace: host.workspace,
      token: server.token,
    });
    using _daily = tidyDaily(host, warn);
    reportServing(args, host, server, say, warn);
    if (args.open) openInBrowser(server.pageAddressOnce(), warn);
    const exit = await untilStopped();
    say(
      shared
        ? "Stopping. Running turns have time to finish. Another server continues the turns that do not finish."
        : "Stopping. Running agents are interrupted and can be resumed.",
    );
    await server.stop();
    return exit;
  } catch (error) {
    const { message, exit } = reportedProblem(error);
    warn(message);
    return exit;
  } finally {
    await host?.close();
  }
}

/** Warns about missing MCP servers once known. The server does not wait for this. */
async function tellMissing(host: Host, warn: (sentence: string) => void): Promise<void> {
  const { mcp } = await host.ready();
  for (const sentence of mcp ? await waitForServers(mcp, AbortSignal.timeout(STARTING)) : []) warn(sentence);
}

/** Milliseconds for an MCP server to start before it counts as missing. */
const STARTING = 60_000;

function serveOptions(
  args: ServeArguments,
  host: Host,
  log: (line: string) => void,
  shared: Awaited<ReturnType<typeof sharedStore>>,
): ServeOptions {
  const { BANYAN_TOKEN, BANYAN_GUEST_TOKEN } = process.env;
  const { state } = host.places;
  const guestToken = args.guestToken ?? (BANYAN_GUEST_TOKEN || undefined);
  const token = args.token ?? (BANYAN_TOKEN || keptToken(join(state, "server-token")));
  for (const secret of [token, guestToken]) {
    if (secret !== undefined && !/^[\w.~-]{16,200}$/.test(secret))
      throw new UsageError(
        "A token needs at least 16 letters, digits, '.', '_', '~' or '-', so that it cannot be guessed.",
      );
  }
  if (token === guestToken) throw new UsageError("The guest token must differ from the token.");
  return {
    host,
    port: args.port,
    hostname: args.host,
    allowedHosts: args.allowHost,
    token,
    ...(guestToken === undefined ? {} : { guestToken }),
    ...(shared && {
      cluster: {
        shared: shared.store.shared,
        driver: shared.driver,
        address: args.address,
        redrive: args.redrive,
        drain: args.drain === undefined ? undefined : args.drain * 1_000,
      },
    }),
    page: builtPage(),
    state,
    log,
  };
}

async function startListening(options: ServeOptions): Promise<RunningServer> {
  try {
    return await startServer(options);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const { port, hostname } = options;
    if (code === "EADDRINUSE")
      throw new UsageError(`Port ${port} is in use. Choose another port with --port, or 0 for a free port.`, {
        cause: error,
      });
    if (code === "EACCES")
      throw new UsageError(`The system does not let Banyan use port ${port}. Choose a port above 1023.`, {
        cause: error,
      });
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new UsageError(`${hostname} is not an address of this machine.`, { cause: error });
    throw error;
  }
}

function reportServing(
  args: ServeArguments,
  host: Host,
  server: RunningServer,
  say: (sentence: string) => void,
  warn: (sentence: string) => void,
): void {
  say(`Serving ${host.workspace} with ${host.model.name}.`);
  say(`Open ${server.pageAddress}`);
  say("Anyone who opens this address is signed in, so keep the address secret.");
  say(`Ctrl-C stops the server. ${ownCommand("attach")} joins from a terminal.`);
  if (!isLoopbackAddress(args.host))
    warn(`Listening on ${args.host}: other machines can reach this server, and the connection is not encrypted.`);
  if (host.approval === "all")
    warn("APPROVAL IS OFF: every call runs without asking. Use this mode in a sandbox only.");
}

/** The process list shows the address, so it is valid for one page only. */
function openInBrowser(address: string, warn: (sentence: string) => void): void {
  const [command, ...args] =
    process.platform === "darwin"
      ? ["open", address]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", address]
        : ["xdg-open", address];
  const env = { ...process.env, PATH: pathWithout([process.cwd()], process.env.PATH ?? "") };
  const browser = spawn(command as string, args, { stdio: "ignore", detached: true, env });
  browser.on("error", () => warn("No browser could be started. Open the address yourself."));
  browser.unref();
}

/** Resolves with the exit code when a signal arrives. A second signal exits at once. */
function untilStopped(): Promise<ExitCode> {
  return new Promise((resolve_) => {
    let isAsked = false;
    for (const [signal, exit] of Object.entries(signalExits)) {
      process.on(signal, () => {
        if (isAsked) process.exit(exit);
        isAsked = true;
        resolve_(signal === "SIGINT" ? exitCodes.done : exit);
      });
    }
  });
}

const DAY = 86_400_000;

/**
 * Removes the expired data of a long-running host each day, and reports the removals, until the result is disposed of
 * (B64). The timer does not keep the process alive.
 */
export function tidyDaily(host: Pick<Host, "tidy">, tell: (sentence: string) => void): Disposable {
  const tidy = async () => {
    for (const sentence of await host.tidy()) tell(sentence);
  };
  const timer = setInterval(() => tidy().catch((error: unknown) => tell(reportedProblem(error).message)), DAY).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

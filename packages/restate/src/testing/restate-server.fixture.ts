import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { arch, platform } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The server for development; `npm run restate` downloads it. */
export const RESTATE = "@restatedev/restate-server@1.7.12";

/** Folder of its program and data, below the current folder. */
export const FOLDER = resolve(".restate");

const PROGRAM = join(FOLDER, `node_modules/@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`);

/** Reason why no server can start here; undefined if it can. */
export function whyNoRestate(): string | undefined {
  return existsSync(PROGRAM) ? undefined : "Restate's server is not installed: npm run restate does that";
}

/** A running Restate server of a test. */
export interface RestateServer {
  readonly ingress: string;
  readonly admin: string;
  readonly process: ChildProcess;
}

/** Folder and ports of a server. */
export interface RestateServerOptions {
  readonly folder: string;
  /** Ports for calls, for operators, and for other servers of Restate. */
  readonly ports: readonly [ingress: number, admin: number, nodes: number];
  /** In a cluster: the node ports of all servers, and the index of this server. */
  readonly among?: { readonly ports: readonly number[]; readonly index: number };
}

/** Starts a server on this machine only, without telemetry. Resolves when it answers. */
export async function startRestate({ folder, ports, among }: RestateServerOptions): Promise<RestateServer> {
  mkdirSync(folder, { recursive: true });
  const [ingress, admin, nodes] = ports;
  const env = {
    ...process.env,
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_BIND_IP: "127.0.0.1",
    RESTATE_BIND_ADDRESS: `127.0.0.1:${nodes}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${nodes}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BASE_DIR: folder,
    RESTATE_NODE_NAME: `restate-${among?.index ?? 0}`,
    RESTATE_CLUSTER_NAME: "banyan-development",
    RESTATE_DEFAULT_NUM_PARTITIONS: "4",
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "256 MB",
    ...(among && {
      RESTATE_DEFAULT_REPLICATION: "2",
      RESTATE_AUTO_PROVISION: String(among.index === 0),
      RESTATE_METADATA_CLIENT__ADDRESSES: JSON.stringify(among.ports.map((port) => `http://127.0.0.1:${port}`)),
    }),
  };
  const log = openSync(join(folder, "log"), "a");
  // Own process group: Ctrl-C must reach only the parent process, which ends the server cleanly.
  const child = spawn(PROGRAM, [], { env, detached: true, stdio: ["ignore", log, log] });
  const server = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}`, process: child };
  for (;;) {
    if (child.exitCode !== null) throw new Error(`Restate ended at once; ${join(folder, "log")} says why.`);
    const answers = await Promise.all(
      [`${server.admin}/health`, `${server.ingress}/restate/health`].map((address) =>
        fetch(address).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    if (answers.every(Boolean)) return server;
    await sleep(100);
  }
}

/** Ends a server; kills it after ten seconds. */
export async function stopRestate(
  { process: child }: RestateServer,
  signal: NodeJS.Signals = "SIGTERM",
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, "exit");
  child.kill(signal);
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await end;
  clearTimeout(late);
}

/** Returns ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

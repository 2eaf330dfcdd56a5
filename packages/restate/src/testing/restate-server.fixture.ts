import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync } from "node:fs";
import { createServer } from "node:net";
import { arch, platform } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The server that is used to develop against; `npm run restate` downloads it. */
export const RESTATE = "@restatedev/restate-server@1.7.12";

/** Where its program and what it keeps are: in the folder that the command runs in. */
export const FOLDER = resolve(".restate");

const PROGRAM = join(FOLDER, `node_modules/@restatedev/restate-server-${platform()}-${arch()}/bin/restate-server`);

/** Why none can be started here; nothing when one can. */
export function whyNoRestate(): string | undefined {
  return existsSync(PROGRAM) ? undefined : "Restate's server is not installed: npm run restate does that";
}

/** One process of Restate. */
export interface RestateServer {
  readonly ingress: string;
  readonly admin: string;
  readonly process: ChildProcess;
}

/** How one is started. */
export interface RestateServerOptions {
  /** Where it keeps its journal. */
  readonly folder: string;
  /** For calls, for operators, and for other servers of Restate. */
  readonly ports: readonly [ingress: number, admin: number, nodes: number];
  /** Of several that are one: the ports for servers of all of them, and which one this is. */
  readonly among?: { readonly ports: readonly number[]; readonly index: number };
}

/** Starts one, on this machine only, that sends nothing to its makers. Resolves when it answers. */
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
  // Ctrl-C is for whoever started it, who ends it in order.
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

/** Ends one; after some seconds, at once. */
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

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

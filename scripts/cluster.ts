// Runs `npm run cluster`: a PostgreSQL, three servers that share it, and a load balancer on this machine, to show how
// conversations outlive a server. Further arguments go to the servers: `npm run cluster -- --model anthropic/...`.
import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killPostgres, makeFolder, startPostgres, whyNoPostgres } from "@banyan/store/testing";
import { buildPage, isPageFresh } from "./page.ts";

const PORT = Number(process.env.PORT ?? 4180);
const NODES = 3;
const TOKEN = process.env.BANYAN_TOKEN ?? crypto.randomUUID();
const MAIN = new URL("../packages/cli/src/main.ts", import.meta.url).pathname;

if (process.env.BANYAN_STORE === undefined && whyNoPostgres !== undefined) {
  process.stderr.write(`No PostgreSQL can be started here (${whyNoPostgres}): name one in BANYAN_STORE.\n`);
  process.exit(1);
}
if (!isPageFresh()) {
  process.stderr.write("Building the page (once, a few seconds) ...\n");
  await buildPage();
}
const folder = join(tmpdir(), `banyan-cluster-${process.pid}`);
const postgres = process.env.BANYAN_STORE === undefined ? await started() : undefined;
const store = postgres?.url ?? process.env.BANYAN_STORE ?? "";

const ready = new Set<number>();
const nodes: ChildProcess[] = [];
for (let index = 1; index <= NODES; index++) nodes.push(node(PORT + index));

const sockets = new Set<Socket>();
/** Connects to the first ready server: a browser stays with one server, and gets the next one when that server ends. */
const balancer = createServer((client) => {
  const [port] = ready;
  if (port === undefined) return void client.destroy();
  const server = connect(port, "127.0.0.1");
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    sockets.add(one);
    one.on("error", () => other.destroy()).on("close", () => sockets.delete(one));
    one.pipe(other);
  }
});
balancer.listen(PORT, "127.0.0.1");

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop().catch(() => process.exit(1)));

while (ready.size < NODES) await look();
process.stdout.write(`
Open http://127.0.0.1:${PORT}/?token=${TOKEN}

${nodes.map(({ pid }, index) => `  server ${index + 1} at port ${PORT + index + 1}: process ${pid}`).join("\n")}

Begin something long, then stop the server that works on it: kill -TERM ${nodes[0]?.pid}, or kill -KILL, after which it takes 15 seconds.
See who has what:  BANYAN_STORE='${store}' npm start -- nodes --conversations
Ctrl-C ends everything, and forgets it${postgres ? "" : " but for what is in your database"}.
`);
for (;;) {
  await look();
  await sleep(500);
}

async function started() {
  makeFolder(folder);
  return startPostgres(folder);
}

function node(port: number): ChildProcess {
  const args = ["serve", "--port", String(port), "--allow-host", `127.0.0.1:${PORT}`, ...process.argv.slice(2)];
  const env = { ...process.env, BANYAN_STORE: store, BANYAN_TOKEN: TOKEN };
  // Ctrl-C must only reach this process, which ends the servers in order.
  const child = spawn(process.execPath, [MAIN, ...args], { env, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  child.stderr?.on("data", (text: Buffer) => process.stderr.write(`${port}: ${text}`));
  child.once("exit", () => process.stderr.write(`${port}: the server has ended\n`));
  return child;
}

async function look(): Promise<void> {
  for (let port = PORT + 1; port <= PORT + NODES; port++) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok) ready.add(port);
    else ready.delete(port);
  }
  if (nodes.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null)) await stop();
  if (ready.size < NODES) await sleep(100);
}

async function stop(): Promise<never> {
  balancer.close();
  for (const socket of sockets) socket.destroy();
  const ends = nodes.map((child) => {
    if (child.exitCode !== null || child.signalCode !== null) return undefined;
    const end = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    return end;
  });
  await Promise.all(ends);
  if (postgres) {
    await killPostgres(postgres);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  process.exit(0);
}

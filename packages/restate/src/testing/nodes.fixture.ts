import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@banyan/client";
import { nodeLink } from "@banyan/client/node";
import { type ConversationState, type Event, emptyConversation, reduce } from "@banyan/core";
import { checkConversation } from "@banyan/core/testing";
import { type PostgresStore, postgresStore } from "@banyan/store/postgres";
import { testDatabase } from "@banyan/store/testing";
import type { NodeProgramOptions } from "./node-program.fixture.ts";
import { freePorts, type RestateServer, startRestate, stopRestate } from "./restate-server.fixture.ts";

const PROGRAM = fileURLToPath(new URL("./node-program.fixture.ts", import.meta.url));
const TOKEN = "a-token-of-a-test-0123456789";

/** A Banyan server in its own process. */
export interface Node {
  readonly process: ChildProcess;
  readonly client: Client;
  readonly port: number;
}

/** A log, its conversation and the faults in it. */
export interface Stored {
  readonly events: readonly Event[];
  readonly state: ConversationState;
  readonly wrong: readonly string[];
}

/** Nodes with a shared database and one Restate of one or more servers, all on this machine. */
export class Nodes {
  readonly folder = mkdtempSync(join(tmpdir(), "banyan-restate-"));
  readonly all: Node[] = [];
  restates: RestateServer[] = [];
  readonly #effects = join(this.folder, "effects");
  readonly #proxy: Server;
  readonly #sockets = new Set<Socket>();
  #database: Awaited<ReturnType<typeof testDatabase>> | undefined;
  #store: PostgresStore | undefined;
  readonly #ports: (readonly [number, number, number])[] = [];
  #proxyPort = 0;

  constructor() {
    // Restate reaches the nodes at one address: a new connection goes to the first node that accepts it, and stays there.
    this.#proxy = createServer((socket) => {
      this.#lead(socket, [...this.all]).catch(() => socket.destroy());
    });
  }

  /** Starts a Restate cluster with this number of servers. */
  async begin(restates: number): Promise<void> {
    this.#database = await testDatabase();
    this.#store = postgresStore(this.#database.url, { connections: 2 });
    const ports = await freePorts(3 * restates + 1);
    this.#proxyPort = ports.pop() ?? 0;
    this.#proxy.listen(this.#proxyPort, "127.0.0.1");
    for (let index = 0; index < restates; index++)
      this.#ports.push(ports.slice(3 * index, 3 * index + 3) as [number, number, number]);
    this.restates = await Promise.all(this.#ports.map((_, index) => this.startRestate(index)));
  }

  startRestate(index: number): Promise<RestateServer> {
    const nodes = this.#ports.map(([, , port]) => port);
    return startRestate({
      folder: join(this.folder, `restate-${index}`),
      ports: this.#ports[index] ?? [0, 0, 0],
      ...(nodes.length > 1 && { among: { ports: nodes, index } }),
    });
  }

  async start({ pace = 2, byLeases = false } = {}): Promise<Node> {
    const [port = 0] = await freePorts(1);
    const [first] = this.restates;
    const query = new URLSearchParams({
      listen: `127.0.0.1:${port}`,
      servers: `http://127.0.0.1:${this.#proxyPort}`,
      ...(first && { admin: first.admin }),
    });
    const options: NodeProgramOptions = {
      url: this.#database?.url ?? "",
      token: TOKEN,
      effects: this.#effects,
      pace,
      ...(!byLeases && { restate: `${this.restates.map(({ ingress }) => ingress)}?${query}` }),
    };
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
    const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    const client = new Client(nodeLink({ address: String(value), token: TOKEN, client: "a test" }));
    await client.connected();
    const node = { process: child, client, port };
    this.all.push(node);
    return node;
  }

  async kill(node: Node): Promise<void> {
    this.all.splice(this.all.indexOf(node), 1);
    node.client.close();
    const end = once(node.process, "exit");
    node.process.kill("SIGKILL");
    await end;
  }

  async stored(conversation: string): Promise<Stored> {
    const view = await this.#store?.view(conversation);
    if (!view) throw new Error("The nodes have not begun.");
    const events: Event[] = [];
    const state = emptyConversation(conversation);
    for await (const batch of view.read())
      for (const event of batch) {
        reduce(state, event);
        events.push(event);
      }
    await view.close();
    return { events, state, wrong: checkConversation(state, events) };
  }

  /** Waits until the log of a conversation satisfies `fits`. */
  async until(conversation: string, fits: (stored: Stored) => boolean): Promise<Stored> {
    for (; ; await sleep(50)) {
      const stored = await this.stored(conversation);
      if (fits(stored)) return stored;
    }
  }

  /** Ids of open invocations of a Restate service. */
  async invocations(service: string): Promise<string[]> {
    const query = `SELECT id FROM sys_invocation WHERE target_service_name = '${service}' AND status <> 'completed'`;
    const answer = await fetch(`${this.restates[0]?.admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    const { rows } = (await answer.json()) as { readonly rows: readonly { readonly id: string }[] };
    return rows.map(({ id }) => id);
  }

  /** Cancels an invocation as an operator would. */
  async cancel(invocation: string): Promise<void> {
    const answer = await fetch(`${this.restates[0]?.admin}/invocations/${invocation}/cancel`, { method: "PATCH" });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  }

  /** Lines that tools wrote: keys of calls with effects, "waiting" and "stopped". */
  get effects(): string[] {
    return existsSync(this.#effects) ? readFileSync(this.#effects, "utf8").split("\n").slice(0, -1) : [];
  }

  async end(): Promise<void> {
    for (const node of [...this.all]) await this.kill(node);
    for (const socket of this.#sockets) socket.destroy();
    this.#proxy.close();
    for (const restate of this.restates) await stopRestate(restate, "SIGKILL");
    await this.#store?.close();
    await this.#database?.remove();
  }

  async #lead(client: Socket, nodes: Node[]): Promise<void> {
    this.#sockets.add(client.on("error", () => client.destroy()));
    for (const { port } of nodes) {
      const server = connect(port, "127.0.0.1");
      const isUp = await new Promise<boolean>((resolve) => {
        server.once("connect", () => resolve(true)).once("error", () => resolve(false));
      });
      if (!isUp) continue;
      server.on("error", () => client.destroy()).on("close", () => client.destroy());
      client.on("close", () => server.destroy());
      client.pipe(server).pipe(client);
      return;
    }
    client.destroy();
  }
}

export function say(words: string) {
  return [{ type: "text", text: words }] as const;
}

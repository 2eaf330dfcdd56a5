import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { ToolContext } from "@banyan/core";
import type { SharedLoopback } from "../../sandbox/loopback.ts";

const OPEN = "Open the port";
const NO = "Keep it closed";

/** A port of sandboxed commands that is also open on 127.0.0.1 of this machine (S39), and on no other interface. */
class PublishedPort implements Disposable {
  readonly inside: number;
  readonly address: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(inside: number, server: Server, sockets: Set<Socket>) {
    this.inside = inside;
    this.#server = server;
    this.#sockets = sockets;
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Opens the same port, or another port if a program of this machine uses the port already. */
  static async open(inside: number, loopback: () => SharedLoopback | undefined): Promise<PublishedPort> {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const target = loopback()?.connect(inside);
      if (target === undefined) client.destroy();
      else join(client, target, sockets);
    });
    // The published port does not keep the program alive.
    server.unref();
    await listen(server, inside).catch(() => listen(server, 0));
    return new PublishedPort(inside, server, sockets);
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
}

function join(client: Socket, target: Socket, sockets: Set<Socket>): void {
  for (const [socket, other] of [
    [client, target],
    [target, client],
  ] as const) {
    sockets.add(socket);
    socket.unref();
    socket.on("error", () => other.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.pipe(other);
  }
}

/**
 * The ports of sandboxed commands that a user was asked to open. A port closes when no command listens on it any more.
 */
export class PublishedPorts {
  /** The open addresses by network and port; undefined for a refused port. */
  readonly #asked = new Map<string, PublishedPort | undefined>();

  /**
   * Asks about each port on which commands of a network listen, once per port. Resolves with the addresses of all open
   * ports of the network.
   */
  async offer(
    network: string,
    loopback: () => SharedLoopback | undefined,
    ask: ToolContext["ask"],
  ): Promise<readonly string[]> {
    this.closeUnused(network, loopback());
    for (const port of loopback()?.ports() ?? []) {
      const key = `${network}\0${port}`;
      if (this.#asked.has(key)) continue;
      this.#asked.set(key, undefined);
      const text = `A command listens on port ${port} in the sandbox. Open the port on 127.0.0.1 of this machine?`;
      // A user who declines the question, or cancels the call, keeps the port closed.
      const answer = await ask({ text, choices: [OPEN, NO], default: NO }).catch(() => NO);
      if (answer === OPEN) this.#asked.set(key, await PublishedPort.open(port, loopback));
    }
    return this.#of(network).flatMap(([, port]) => port?.address ?? []);
  }

  /** Closes and forgets the ports of a network on which no command listens any more. */
  closeUnused(network: string, loopback: SharedLoopback | undefined): void {
    const used = new Set(loopback?.ports());
    for (const [key, port] of this.#of(network)) {
      if (used.has(Number(key.slice(network.length + 1)))) continue;
      port?.[Symbol.dispose]();
      this.#asked.delete(key);
    }
  }

  #of(network: string): [string, PublishedPort | undefined][] {
    return [...this.#asked].filter(([key]) => key.startsWith(`${network}\0`));
  }
}

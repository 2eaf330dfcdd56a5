import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { Question } from "@banyan/core";
import type { SharedLoopback } from "../../sandbox/loopback.ts";

const OPEN = "Open the port";
const ALWAYS = "Always open this port in this folder";
const NO = "Keep it closed";

/** Keeps the ports that a user always opens, by the folder of their commands. See {@link BackgroundCommands}. */
export interface AlwaysOpenPorts {
  has(folder: string, port: number): boolean;
  /** Throws if the port cannot be stored. */
  add(folder: string, port: number): void;
}

/** The ports of the commands of one conversation in one folder. */
export interface CommandPorts {
  /** Returns whether commands listen on a port about which no user was asked. */
  hasNew(): boolean;
  /** Asks about each new port, once per port. Resolves with the addresses of all open ports. */
  offer(ask: (question: Question) => Promise<string>): Promise<readonly string[]>;
  /** Closes and forgets the ports on which no command listens any more. */
  closeUnused(): void;
}

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
  readonly #always: AlwaysOpenPorts | undefined;
  /** The open addresses by network and port; undefined for a port that is not open. */
  readonly #asked = new Map<string, PublishedPort | undefined>();

  constructor(always?: AlwaysOpenPorts) {
    this.#always = always;
  }

  /** Returns the ports of commands that share a loopback. `network` identifies their conversation and folder. */
  of(network: string, folder: string, loopback: () => SharedLoopback | undefined): CommandPorts {
    const open = () => [...this.#asked].filter(([key]) => key.startsWith(`${network}\0`));
    const keyOf = (port: number) => `${network}\0${port}`;
    const unasked = () => (loopback()?.ports() ?? []).filter((port) => !this.#asked.has(keyOf(port)));
    const closeUnused = () => {
      const used = new Set(loopback()?.ports().map(keyOf));
      for (const [key, port] of open()) {
        if (used.has(key)) continue;
        port?.[Symbol.dispose]();
        this.#asked.delete(key);
      }
    };
    return {
      hasNew: () => unasked().length > 0,
      closeUnused,
      offer: async (ask) => {
        closeUnused();
        for (let [port] = unasked(); port !== undefined; [port] = unasked()) {
          this.#asked.set(keyOf(port), undefined);
          if (!(await this.#mayOpen(port, folder, ask))) continue;
          const opened = await PublishedPort.open(port, loopback);
          // The command may have ended before the answer.
          if (this.#asked.has(keyOf(port))) this.#asked.set(keyOf(port), opened);
          else opened[Symbol.dispose]();
        }
        return open().flatMap(([, port]) => port?.address ?? []);
      },
    };
  }

  async #mayOpen(port: number, folder: string, ask: (question: Question) => Promise<string>): Promise<boolean> {
    if (this.#always?.has(folder, port)) return true;
    const text = `A command listens on port ${port} in the sandbox. Open the port on 127.0.0.1 of this machine?`;
    const choices = [OPEN, ...(this.#always ? [ALWAYS] : []), NO];
    // A user who declines the question, or cancels the call, keeps the port closed.
    const answer = await ask({ text, choices, default: NO }).catch(() => NO);
    if (answer === ALWAYS) this.#keep(folder, port);
    return choices.includes(answer) && answer !== NO;
  }

  #keep(folder: string, port: number): void {
    try {
      this.#always?.add(folder, port);
    } catch {
      // The disk may be full. The port opens, and the user is asked again next time.
    }
  }
}

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Whose packets are swallowed: those to the server, those from it, or both. */
export type Swallowed = "to" | "from" | "both";

/** What is between a server on this machine and who talks to it: a proxy that does what networks do. */
export interface Wire extends Disposable {
  readonly port: number;
  /** Pieces that came from clients since the last `cutAt`. */
  readonly sent: number;
  /** The address, by way of this. */
  via(address: string): string;
  /** Breaks all connections. */
  cut(): void;
  /**
   * Breaks all connections at the piece of this number from clients, counted from now: `before` it went on, or `after`, when the
   * answer to it has come and is not given. Later ones are as good as new. Calls `done` then.
   */
  cutAt(piece: number, when: "before" | "after", done?: () => void): void;
  /** Breaks all connections, and takes no new ones until what is returned is called. */
  down(): () => void;
  /** From now on packets are swallowed, also those of new connections, and nobody is told; until what is returned is called. */
  part(what?: Swallowed): () => void;
}

/** A wire to a server. `to` says its port, for each connection anew: it may be begun before the server listens, and may move. */
export async function wireTo(to: () => number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let swallowed: Swallowed | undefined;
  let broken:
    | { readonly piece: number; readonly when: "before" | "after"; done?: (() => void) | undefined }
    | undefined;
  let sent = 0;
  let isDown = false;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const breakHere = () => {
    cut();
    broken?.done?.();
  };
  const server = createServer((client) => {
    if (isDown) {
      client.destroy();
      return;
    }
    const upstream = connect(to(), "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    // What is swallowed is gone: a connection that missed something is broken for good.
    let isDeaf = false;
    const passes = (direction: Swallowed) => {
      isDeaf ||= swallowed === direction || swallowed === "both";
      return !isDeaf;
    };
    let isLast = false;
    client.on("data", (data) => {
      sent++;
      const isHere = sent === broken?.piece;
      if (isHere && broken?.when === "before") return breakHere();
      isLast ||= isHere;
      if (passes("to")) upstream.write(data);
    });
    upstream.on("data", (data) => {
      // The server has done what it was asked, and nobody hears of it.
      if (isLast) breakHere();
      else if (passes("from")) client.write(data);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get sent() {
      return sent;
    },
    via: (address) => Object.assign(new URL(address), { port: String(port) }).href.replace(/\/$/, ""),
    cut,
    cutAt(piece, when, done) {
      sent = 0;
      broken = { piece, when, done };
    },
    down() {
      isDown = true;
      cut();
      return () => {
        isDown = false;
      };
    },
    part(what = "both") {
      swallowed = what;
      return () => {
        swallowed = undefined;
      };
    },
    [Symbol.dispose]() {
      server.close();
      cut();
    },
  };
}

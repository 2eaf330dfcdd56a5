import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** The direction of dropped packets: to the server, from the server, or both. */
export type Swallowed = "to" | "from" | "both";

/** A proxy between a local server and its clients that simulates network failures. */
export interface Wire extends Disposable {
  readonly port: number;
  /** Pieces from clients since the last `cutAt`. */
  readonly sent: number;
  /** Returns the address through this proxy. */
  via(address: string): string;
  /** Breaks all connections. */
  cut(): void;
  /**
   * Breaks all connections at the given piece from clients, counted from now: `before` the piece is passed on, or
   * `after` its response arrived, which is dropped. Calls `done` then. Later pieces pass.
   */
  cutAt(piece: number, when: "before" | "after", done?: () => void): void;
  /** Breaks all connections and refuses new ones until the returned function is called. */
  down(): () => void;
  /** Silently drops packets, including those of new connections, until the returned function is called. */
  part(what?: Swallowed): () => void;
}

/** Creates a proxy. `to` returns the server's port for each connection: the server may start later and may move. */
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
    // Dropped packets are lost: a connection that missed one is broken for good.
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
      // The server has done the work, and the client gets no response.
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

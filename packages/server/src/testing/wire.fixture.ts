import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Whose packets are swallowed: those to the server, those from it, or both. */
export type Swallowed = "to" | "from" | "both";

/** What is between a node and whom it talks to: it can swallow what is said, as a network does that is parted. */
export interface Wire {
  readonly port: number;
  /** The address, by way of this. */
  via(address: string): string;
  /** From now on packets are swallowed, also those of new connections, and nobody is told; until what is returned is called. */
  part(what?: Swallowed): () => void;
  /** Breaks all connections. */
  cut(): void;
}

/** A wire to a server on this machine. It may be begun before the server listens: `to` answers with its port. */
export async function wireTo(to: () => number): Promise<Wire> {
  const sockets = new Set<Socket>();
  let swallowed: Swallowed | undefined;
  const server = createServer((client) => {
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
    let isBroken = false;
    const passes = (direction: Swallowed) => {
      isBroken ||= swallowed === direction || swallowed === "both";
      return !isBroken;
    };
    client.on("data", (data) => passes("to") && upstream.write(data));
    upstream.on("data", (data) => passes("from") && client.write(data));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  return {
    port,
    via: (address) => Object.assign(new URL(address), { port: String(port) }).href.replace(/\/$/, ""),
    part(what = "both") {
      swallowed = what;
      return () => {
        swallowed = undefined;
      };
    },
    cut,
  };
}

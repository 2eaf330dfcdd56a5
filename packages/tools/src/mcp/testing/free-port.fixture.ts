import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Listens on a free port outside the range that systems assign. So no other process gets the port while the server is
 * closed, and the server can listen there again.
 */
export async function listenOnFreePort(server: Server): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      return port;
    } catch {
      // The port is taken.
    }
  }
}

/** Returns a free port, for programs and settings that need a port in advance. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnFreePort(server);
  server.close();
  await once(server, "close");
  return port;
}

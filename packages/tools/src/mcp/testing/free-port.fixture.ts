import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Returns a free port, for servers that need a port in advance. The port is outside the range that systems assign, so
 * no other process gets the port meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      // The port is taken.
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port that nothing listens on, for whoever can only be given one. It is none of those that systems give out by
 * themselves, so no neighbour gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      // Somebody has it.
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

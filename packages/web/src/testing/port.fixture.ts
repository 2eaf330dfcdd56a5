import { once } from "node:events";
import { createServer } from "node:net";

/** Ports that systems give to nobody by themselves: what listens on 0, and what connects, gets higher ones. */
const FIRST = 20_000;
const COUNT = 12_000;

/** A free port for a server that is to come back on it: nobody is given it in between. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
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

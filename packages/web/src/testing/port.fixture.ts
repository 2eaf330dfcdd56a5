import { once } from "node:events";
import { createServer } from "node:net";

/** Ports below those that systems assign for port 0 or for outgoing connections. */
const FIRST = 20_000;
const COUNT = 12_000;

/** A free port for a server that restarts on it: the system assigns it to no other program meanwhile. */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      // The port is in use.
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

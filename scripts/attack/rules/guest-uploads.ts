import { request } from "node:http";
import type { Attack } from "../attack.ts";
import { attackedServer, GUEST } from "../attacked-server.ts";

// S4: what a client may do is asked before what it sends is taken in: a guest fills no memory of the server.

/** Bytes of a piece, and how many are sent at the most: more than any body of a guest has to have. */
const PIECE = Buffer.alloc(64 * 1024, "x");
const PIECES = 200;

/** How many bytes the server took before it refused. Throws when it does not refuse. */
function takenBefore(address: string, path: string, start: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let taken = 0;
    const headers = { authorization: `Bearer ${GUEST}`, "transfer-encoding": "chunked" };
    const sent = request(`${address}${path}`, { method: "POST", headers, agent: false }, ({ statusCode }) => {
      if (statusCode === 403 || statusCode === 413) resolve(taken);
      else reject(new Error(`The server answers ${statusCode}.`));
      sent.destroy();
    });
    // It may close the connection on the rest.
    sent.on("error", () => resolve(taken));
    sent.write(start);
    const more = (pieces: number) => {
      if (sent.destroyed) return;
      if (pieces === 0) return resolve(taken);
      sent.write(PIECE, () => {
        taken += PIECE.length;
        more(pieces - 1);
      });
    };
    sent.once("socket", (socket) => socket.once("connect", () => more(PIECES)));
  });
}

export const attacks: readonly Attack[] = [
  ["an import", "/api/v1/conversations", '{"format":"banyan-conversation","events":["'],
  ["a command", "/api/v1/commands", '{"type":"'],
].map(
  ([name, path = "", start = ""]): Attack => ({
    rule: "S4",
    name: `a guest sends ${name} that does not end`,
    async attempt(place) {
      const { address } = await attackedServer(place);
      const taken = await takenBefore(address, path, start);
      // What lies in buffers on the way was taken by nobody.
      return taken < 8 * 1024 * 1024 ? undefined : `the server took ${taken} bytes`;
    },
  }),
);

import { request } from "node:http";
import type { Attack } from "../attack.ts";
import { attackedServer, GUEST } from "../attacked-server.ts";

// S4: the server checks a client's rights before it reads the body, so that a guest cannot fill its memory.

/** Bytes of a piece, and maximum number of pieces: more than any body of a guest may have. */
const PIECE = Buffer.alloc(64 * 1024, "x");
const PIECES = 200;

/** Returns the number of bytes that the server read before it refused. Throws if the server does not refuse. */
function takenBefore(address: string, path: string, start: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let taken = 0;
    const headers = { authorization: `Bearer ${GUEST}`, "transfer-encoding": "chunked" };
    const sent = request(`${address}${path}`, { method: "POST", headers, agent: false }, ({ statusCode }) => {
      if (statusCode === 403 || statusCode === 413) resolve(taken);
      else reject(new Error(`The server answers ${statusCode}.`));
      sent.destroy();
    });
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
      // Bytes in network buffers were not read by the server.
      return taken < 8 * 1024 * 1024 ? undefined : `the server took ${taken} bytes`;
    },
  }),
);

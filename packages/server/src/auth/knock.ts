import type { IncomingMessage } from "node:http";
import type { Knock } from "./gate.ts";

/** What of a request decides whether it is let in. */
export function knockOf(request: IncomingMessage): Knock {
  return {
    method: request.method ?? "GET",
    from: request.socket.remoteAddress ?? "unknown",
    header(name) {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
  };
}

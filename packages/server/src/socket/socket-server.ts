import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { errorMessage } from "@banyan/core/shown";
import type { Desk } from "@banyan/desk";
import { ClientFrame, LINK_OVER } from "@banyan/desk/serving";
import { closeCodes, LARGEST_FRAME, LARGEST_OF_WATCHERS, SIGN_OF_LIFE } from "@banyan/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import type { Gate, GateRequest, SocketVerdict } from "../auth/gate.ts";
import { fetchRequest, gateRequest } from "../auth/gate.ts";
import type { GuestLines } from "../auth/guest-lines.ts";
import { randomToken } from "../auth/secret.ts";
import { type ConnectingClient, type ConnectionParts, SocketConnection } from "./connection.ts";

const PARTING = 1_000;

const SOCKET_PATH = "/api/v1/socket";

/** The functions of the server that the socket server uses. */
export interface SocketParts extends ConnectionParts {
  readonly guests: GuestLines;
  /** The desks of authorized users. Absent: all clients use one desk. */
  readonly users: { take(user: string): { readonly desk: Desk; free(): void } } | undefined;
}

/** Accepts the WebSocket clients of a server. */
export class SocketServer {
  readonly #sockets = socketsFor(LARGEST_FRAME);
  /** Sockets of clients that can only watch. Their frames fill less memory (S4). */
  readonly #watching = socketsFor(LARGEST_OF_WATCHERS);
  readonly #connections = new Map<WebSocket, SocketConnection>();
  readonly #alive = new WeakSet<WebSocket>();
  readonly #gate: Gate;
  readonly #parts: SocketParts;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(server: Server, gate: Gate, parts: SocketParts) {
    this.#gate = gate;
    this.#parts = parts;
    server.on("upgrade", (request, socket, head) => {
      // A client may disconnect while its request is judged.
      socket.on("error", () => socket.destroy());
      this.#upgrade(request, socket, head).catch((error: unknown) => {
        parts.log(errorMessage(error));
        refuseUpgrade(socket, 500, "Internal server error. The server's log has the details.");
      });
    });
    this.#heartbeat = setInterval(() => this.#lookWhoLives(), SIGN_OF_LIFE).unref();
  }

  /** Ends every connection after its unsent data. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    const gone = [...this.#connections.keys()].map((socket) => {
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.close(closeCodes.stopping, "the server stops");
      return closed;
    });
    const late = setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.terminate();
    }, PARTING);
    await Promise.all(gone);
    clearTimeout(late);
    this.#sockets.close();
    this.#watching.close();
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const knock = gateRequest(request);
    const verdict = await this.#gate.judgeSocket(knock, fetchRequest(request));
    if (socket.destroyed) return;
    const path = request.url?.split("?", 1)[0];
    if (!verdict.ok || path !== SOCKET_PATH) {
      const [status, message] = verdict.ok
        ? [404, `There is no WebSocket at this address. Connect to ${SOCKET_PATH}.`]
        : [verdict.status, verdict.message];
      this.#parts.log(`${knock.from}: refused a socket: ${message}`);
      refuseUpgrade(socket, status, message);
      return;
    }
    const isGuest = !verdict.principal.rights.includes("act");
    const free = isGuest ? this.#parts.guests.take(knock.from) : () => {};
    if (typeof free === "string") {
      this.#parts.log(`${knock.from}: refused a socket: ${free}`);
      return refuseUpgrade(socket, 429, free);
    }
    socket.once("close", free);
    const own = verdict.principal.user === undefined ? undefined : this.#parts.users?.take(verdict.principal.user);
    if (own) socket.once("close", own.free);
    const parts = own ? { ...this.#parts, desk: own.desk } : this.#parts;
    const sockets = isGuest ? this.#watching : this.#sockets;
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      this.#alive.add(accepted);
      accepted.on("pong", () => this.#alive.add(accepted));
      const connection = new SocketConnection(accepted, connectingClient(verdict, knock), parts);
      this.#connections.set(accepted, connection);
      verdict.principal.only?.ended.addEventListener("abort", () => connection.end(LINK_OVER), { once: true });
      accepted.on("close", () => this.#connections.delete(accepted));
    });
  }

  #lookWhoLives(): void {
    for (const socket of this.#connections.keys()) {
      if (!this.#alive.delete(socket)) socket.terminate();
      else socket.ping();
    }
    const alive = new ClientFrame({ type: "alive" });
    for (const connection of this.#connections.values()) connection.send(alive);
  }
}

function socketsFor(maxPayload: number): WebSocketServer {
  return new WebSocketServer({ noServer: true, maxPayload, clientTracking: true });
}

function connectingClient(
  { principal, page }: Extract<SocketVerdict, { ok: true }>,
  { from, header }: GateRequest,
): ConnectingClient {
  const host = header("host") ?? "";
  const challenge = randomToken();
  const proof = page && { challenge, fits: (value: string) => page.isProof(value, challenge, host) };
  return { principal, from, proof };
}

function refuseUpgrade(socket: Duplex, status: number, message: string): void {
  const body = `${message}\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

import { ID_RULE, isId } from "@banyan/core/conversation";
import { isJsonRecord, parseJsonText } from "@banyan/core/shown";
import type { Desk, Principal } from "@banyan/desk";
import {
  type ClientConnection,
  ClientFrame,
  type FeedViewer,
  readClientCommand,
  type Seat,
} from "@banyan/desk/serving";
import { closeCodes, hello, isCompatible, PROTOCOL, type ServerFrame } from "@banyan/protocol";
import type { RawData, WebSocket } from "ws";
import { Pace } from "./pace.ts";

const HELLO_WITHIN = 10_000;

/** The functions of the server that connections use. */
export interface ConnectionParts {
  readonly desk: Desk;
  /** Receives lines for the operator of the server, without secrets. */
  log(line: string): void;
}

/** A client that connects: its rights, its address and its proof. */
export interface ConnectingClient {
  readonly principal: Principal;
  readonly from: string;
  /** The proof that a page must give; absent for a program, which has shown its token. */
  readonly proof: { readonly challenge: string; fits(proof: string): boolean } | undefined;
}

/** One client on a WebSocket, from its first frame to its end. */
export class SocketConnection {
  readonly #socket: WebSocket;
  readonly #line: SocketLine;
  readonly #principal: Principal;
  readonly #proof: ConnectingClient["proof"];
  readonly #from: string;
  readonly #parts: ConnectionParts;
  readonly #pace = new Pace();
  #seat: Seat | undefined;

  constructor(socket: WebSocket, { principal, from, proof }: ConnectingClient, parts: ConnectionParts) {
    this.#socket = socket;
    this.#line = new SocketLine(socket, principal);
    this.#principal = principal;
    this.#proof = proof;
    this.#from = from;
    this.#parts = parts;
    const impatience = setTimeout(() => {
      if (!this.#seat) this.#refuse("the client sent no hello", closeCodes.silent);
    }, HELLO_WITHIN).unref();
    socket.on("message", (data, isBinary) => this.#take(data, isBinary));
    // A frame of the wrong size or encoding makes the library close the socket.
    socket.on("error", (error) => parts.log(`${from}: ${error.message}`));
    socket.on("close", () => {
      clearTimeout(impatience);
      this.#seat?.leave();
    });
    if (proof) this.#say({ type: "challenge", challenge: proof.challenge });
  }

  send(frame: ClientFrame): void {
    this.#seat?.send(frame);
  }

  /** Ends the connection for a reason that a new connection would not change. */
  end(message: string): void {
    this.#say({ type: "refused", protocol: PROTOCOL, message });
    this.#socket.close(closeCodes.unproven, message.slice(0, 100));
  }

  #say(frame: ServerFrame): void {
    this.#line.send(new ClientFrame(frame));
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const frame = isBinary ? undefined : parseFrame(String(data));
    if (typeof frame?.type !== "string")
      this.#refuse("a frame that is no JSON object with a type", closeCodes.malformed);
    else if (!this.#seat) this.#greet(frame);
    else if (!isId(frame.id)) this.#refuse(`a command without an id of ${ID_RULE}`, closeCodes.malformed);
    else this.#ask(this.#seat, frame.id, frame);
  }

  #greet(frame: object): void {
    const { data } = hello.safeParse(frame);
    if (!data) return this.#refuse("a first frame that is no hello", closeCodes.malformed);
    if (!isCompatible(data.protocol)) {
      const message = `This server uses protocol version ${PROTOCOL}, and the client uses version ${data.protocol}. Update the older program. To update a page, reload the page.`;
      this.#say({ type: "refused", protocol: PROTOCOL, message });
      return this.#refuse(`protocol ${data.protocol}`, closeCodes.version);
    }
    if (this.#proof && !this.#proof.fits(data.proof ?? ""))
      return this.#refuse("a page that did not prove that it signed in", closeCodes.unproven);
    const { desk } = this.#parts;
    this.#say(desk.welcome(this.#principal));
    this.#seat = desk.seat(this.#line, this.#principal);
  }

  #ask(seat: Seat, id: string, frame: object): void {
    const pace = this.#pace.next();
    if (pace === "hasty") return this.#refuse("too many commands", closeCodes.hasty);
    if (pace === "busy")
      return seat.fail(id, { code: "busy", message: "Too many commands at once. Send the command again." });
    const { command, error } = readClientCommand(frame);
    if (command) return seat.ask(command);
    this.#parts.log(`${this.#from}: ${error.message}`);
    seat.fail(id, error);
  }

  #refuse(what: string, code: number): void {
    this.#parts.log(`${this.#from}: refused ${what}`);
    if (code !== closeCodes.version) this.#say({ type: "fault", message: `Refused: ${what}.` });
    this.#socket.close(code, what.slice(0, 100));
  }
}

function parseFrame(text: string): { readonly type?: unknown; readonly id?: unknown } | undefined {
  const value = parseJsonText(text);
  return isJsonRecord(value) ? value : undefined;
}

/** Bytes that may wait for a client; above, the client gets nothing new until they are sent (B58). */
const FULL = 1024 * 1024;

const TEXT = { binary: false };

class SocketLine implements ClientConnection {
  readonly viewer: FeedViewer;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, viewer: FeedViewer) {
    this.viewer = viewer;
    this.#socket = socket;
  }

  send({ bytes }: ClientFrame): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(bytes, TEXT);
  }

  get isFull(): boolean {
    return this.#socket.bufferedAmount > FULL;
  }

  room(): Promise<void> {
    // The ping is behind all waiting data: when it is sent, or fails, that data is gone as well.
    return new Promise((resolve) => this.#socket.ping(undefined, undefined, () => resolve()));
  }
}

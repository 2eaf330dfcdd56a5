import { closeCodes, type Hello, PROTOCOL, type ServerFrame, SILENCE, type Welcome } from "@banyan/protocol";
import { WebSocket } from "ws";
import { RemoteError } from "./remote-error.ts";

/** Milliseconds before the first new attempt; doubled for each further one. */
const FIRST_DELAY = 100;
const LONGEST_DELAY = 5_000;

/** Milliseconds that a server has to take the connection. */
const HANDSHAKE = 10_000;

/** Ends of a connection after which another attempt would end the same way. */
const FINAL: ReadonlySet<number> = new Set([closeCodes.version, closeCodes.malformed, closeCodes.silent]);

/** Where a server is, and who connects. */
export interface LinkOptions {
  /** As in `http://127.0.0.1:4870`. */
  readonly address: string;
  readonly token: string;
  /** What this client is: a name and a version. */
  readonly client: string;
}

/** What a link tells. */
export interface LinkEvents {
  /** Connected, for the first time or again. */
  up(welcome: Welcome): void;
  /** Any frame but the first. */
  frame(frame: ServerFrame): void;
  /** The connection was lost; another attempt follows. */
  down(): void;
  /** It cannot be had, or not any more. */
  lost(error: RemoteError): void;
}

/** A connection to a server that comes back when it is lost, until it is closed. */
export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  #socket: WebSocket | undefined;
  #attempt = 0;
  #welcomed = false;
  #everUp = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#connect();
  }

  /** Sends a text, if the connection is up; whoever sends it again when it is answers for the rest. */
  send(text: string): void {
    if (this.#welcomed && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  /** Ends the connection for good. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    const { address, token, client } = this.#options;
    const socket = new WebSocket(`${address.replace(/^http/, "ws").replace(/\/$/, "")}/api/v1/socket`, {
      headers: { authorization: `Bearer ${token}` },
      followRedirects: false,
      handshakeTimeout: HANDSHAKE,
    });
    this.#socket = socket;
    let refusal: string | undefined;
    let silence: NodeJS.Timeout | undefined;
    socket.on("open", () => {
      silence = setTimeout(() => socket.terminate(), SILENCE);
      const hello: Hello = { type: "hello", protocol: PROTOCOL, client };
      socket.send(JSON.stringify(hello));
    });
    socket.on("message", (data) => {
      silence?.refresh();
      const frame = JSON.parse(String(data)) as ServerFrame;
      if (frame.type === "refused" || frame.type === "fault") refusal = frame.message;
      if (frame.type !== "welcome") return this.#events.frame(frame);
      this.#welcomed = true;
      this.#everUp = true;
      this.#attempt = 0;
      this.#events.up(frame);
    });
    socket.on("unexpected-response", (_request, response) => {
      let said = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        said += chunk;
      });
      response.on("end", () => {
        // A server that is just starting, or a proxy before it, may answer so; a refusal will not change.
        if ((response.statusCode ?? 500) >= 500) this.#ended(1006, undefined);
        else this.#fail(new RemoteError("refused", said.trim() || `The server at ${address} refuses this client.`));
      });
    });
    socket.on("error", () => {
      // What follows is `close`, which is what counts.
    });
    socket.on("close", (code) => {
      clearTimeout(silence);
      this.#ended(code, refusal);
    });
  }

  #ended(code: number, refusal: string | undefined): void {
    if (this.#closed) return;
    const wasUp = this.#welcomed;
    this.#welcomed = false;
    if (FINAL.has(code))
      return this.#fail(new RemoteError("refused", refusal ?? `The server ended the connection (${code}).`));
    if (!this.#everUp) {
      const { address } = this.#options;
      return this.#fail(new RemoteError("unreachable", `No banyan server answers at ${address}.`));
    }
    if (wasUp) this.#events.down();
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.#attempt++) * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  #fail(error: RemoteError): void {
    if (this.#closed) return;
    this.close();
    this.#events.lost(error);
  }
}

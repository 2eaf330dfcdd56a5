import type { Hello, ServerFrame } from "@banyan/protocol";
import { closeCodes, PROTOCOL, SILENCE } from "@banyan/protocol/values";
import { WebSocket } from "ws";
import { Client, type ClientEvents } from "./client.ts";
import type { Link, LinkEvents, OpenLink } from "./link.ts";
import { ClientError } from "./link.ts";

/** Milliseconds before the first reconnection; doubled for each further reconnection. */
const FIRST_DELAY = 100;
const LONGEST_DELAY = 5_000;

const HANDSHAKE = 10_000;

/** Close codes after which another attempt would fail in the same way. */
const FINAL: ReadonlySet<number> = new Set([closeCodes.version, closeCodes.malformed, closeCodes.silent]);

/** Address of a server, and the client's name and token. See {@link nodeLink}. */
export interface ServerAddress {
  /** Such as `http://127.0.0.1:4870`. */
  readonly address: string;
  readonly token: string;
  /** Name and version of this client. */
  readonly client: string;
}

/**
 * Connects to a server. Waits without limit until `signal` aborts. Rejects with `ClientError`.
 * @example
 * const client = await connect({ address: "http://127.0.0.1:4870", token, client: "garden 1.0" });
 * const { conversation } = await client.ask("conversation.create", {});
 */
export async function connect(to: ServerAddress, events: ClientEvents = {}, signal?: AbortSignal): Promise<Client> {
  const client = new Client(nodeLink(to), events);
  await client.connected(signal);
  return client;
}

/**
 * Returns a link to a server over a WebSocket in Node.
 * @example new Client(nodeLink({ address: "http://127.0.0.1:4870", token, client: "garden 1.0" }));
 */
export function nodeLink(to: ServerAddress): OpenLink {
  return (events) => new NodeLink(to, events);
}

class NodeLink implements Link {
  readonly #to: ServerAddress;
  readonly #events: LinkEvents;
  #socket: WebSocket | undefined;
  #attempt = 0;
  #welcomed = false;
  #everUp = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(to: ServerAddress, events: LinkEvents) {
    this.#to = to;
    this.#events = events;
    this.#connect();
  }

  send(command: object): void {
    if (this.#welcomed && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(command));
  }

  retry(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    this.#timer = undefined;
    const { address, token, client } = this.#to;
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
        // A 5xx may come from a starting server or a proxy, so it is retried. Any other refusal is final.
        if ((response.statusCode ?? 500) >= 500) this.#ended(1006, undefined);
        else this.#fail(new ClientError("refused", said.trim() || `The server at ${address} refuses this client.`));
      });
    });
    socket.on("error", () => {
      // The following `close` event handles the error.
    });
    socket.on("close", (code) => {
      clearTimeout(silence);
      this.#ended(code, refusal);
    });
  }

  #ended(code: number, refusal: string | undefined): void {
    if (this.#closed) return;
    this.#welcomed = false;
    if (FINAL.has(code))
      return this.#fail(new ClientError("refused", refusal ?? `The server ended the connection (${code}).`));
    if (!this.#everUp)
      return this.#fail(new ClientError("unreachable", `No banyan server responds at ${this.#to.address}.`));
    const delay = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.#attempt++) * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#connect(), delay);
    this.#events.down(Date.now() + delay);
  }

  #fail(error: ClientError): void {
    if (this.#closed) return;
    this.close();
    this.#events.gone(error);
  }
}

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { listenOnFreePort } from "./free-port.fixture.ts";
import { type Message, Puppet, type PuppetOptions } from "./puppet.fixture.ts";

/** Runs before the puppet; returns whether the request was handled. */
export type Gate = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** Returns the challenge with which a message is refused; undefined if nothing is missing. */
export type Lacking = (message: Message, request: IncomingMessage) => string | undefined;

/** A puppet behind streamable HTTP, on 127.0.0.1. */
export class HttpPuppet implements AsyncDisposable {
  readonly puppet: Puppet;
  /** Answers a message instead of the puppet, even against the protocol. Returns whether the message was answered. */
  instead: ((message: Message, response: ServerResponse) => boolean) | undefined;
  /** The number of clients that opened a stream for server messages. */
  listened = 0;
  /** The headers of all requests, oldest first. */
  readonly headers: IncomingMessage["headers"][] = [];
  readonly #options: PuppetOptions;
  readonly #gate: Gate;
  readonly #lacking: Lacking;
  readonly #sessions = new Set<string>();
  readonly #streams = new Set<ServerResponse>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: PuppetOptions = {}, gate: Gate = () => false, lacking: Lacking = () => undefined) {
    this.#options = options;
    this.#gate = gate;
    this.#lacking = lacking;
    this.puppet = new Puppet(options);
  }

  static async open(options?: PuppetOptions, gate?: Gate, lacking?: Lacking): Promise<HttpPuppet> {
    const opened = new HttpPuppet(options, gate, lacking);
    await opened.listen();
    return opened;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** Listens; after a close, again at the same address. */
  async listen(): Promise<void> {
    // The server never closes idle connections: a client may be about to reuse a connection.
    const server = createServer({ keepAliveTimeout: 600_000 });
    server.on("request", (request, response) => void this.#serve(request, response));
    this.#server = server;
    if (this.#port) await once(server.listen(this.#port, "127.0.0.1"), "listening");
    else this.#port = await listenOnFreePort(server);
  }

  /** Forgets all sessions, like a restarted server. */
  forget(): void {
    this.#sessions.clear();
  }

  /** Breaks all open streams. */
  cut(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Sends a message on all streams. */
  say(message: Message): void {
    for (const stream of this.#streams) stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  #track(stream: ServerResponse): void {
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
  }

  /** The number of sessions. */
  get sessions(): number {
    return this.#sessions.size;
  }

  async close(): Promise<void> {
    this.forget();
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers);
    if (await this.#gate(request, response)) return;
    if (request.url !== "/mcp") {
      response.writeHead(404).end();
      return;
    }
    const session = request.headers["mcp-session-id"];
    const isKnown = this.#options.modern || (typeof session === "string" && this.#sessions.has(session));
    if (request.method === "DELETE") {
      this.#sessions.delete(String(session));
      response.writeHead(204).end();
      return;
    }
    if (request.method === "GET") {
      if (!isKnown) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      this.#track(response);
      this.listened += 1;
      return;
    }
    const message = (await json(request)) as Message;
    if (this.instead?.(message, response)) return;
    const lacking = this.#lacking(message, request);
    if (lacking !== undefined) {
      response.writeHead(403, { "www-authenticate": lacking }).end();
      return;
    }
    if (message.id === undefined || message.method === undefined) {
      await this.puppet.take(message, () => {});
      response.writeHead(202).end();
      return;
    }
    const begins = message.method === "initialize";
    if (!begins && !isKnown && message.method !== "server/discover") {
      response.writeHead(404).end("No such session");
      return;
    }
    const begun = begins && !this.#options.modern ? randomUUID() : undefined;
    if (begun !== undefined) this.#sessions.add(begun);
    response.writeHead(200, {
      "content-type": "text/event-stream",
      ...(begun !== undefined && { "mcp-session-id": begun }),
    });
    this.#track(response);
    await this.puppet.take(message, (answer) => {
      response.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
      if (answer.id === message.id) response.end();
    });
  }
}

import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { call } from "../workspace/test-folder.fixture.ts";
import { fetchTool, type WebFetchOptions } from "./fetch.ts";

/** A request to the server. */
export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A web server on this machine for one test. Records all requests. */
export class TestServer implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server;

  private constructor(listener: RequestListener) {
    // The server never closes idle connections.
    this.#server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
      const { method, url, headers } = request;
      this.received.push({ method, url, headers, body: await text(request) });
      listener(request, response);
    });
  }

  static async start(listener: RequestListener): Promise<TestServer> {
    const server = new TestServer(listener);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  /** Starts a server with a constant response. */
  static give(body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<TestServer> {
    return TestServer.start((_, response) => response.writeHead(200, headers).end(body));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Sends a redirect. */
export function sendTo(response: ServerResponse, location: string, status = 302): void {
  response.writeHead(status, { location }).end();
}

/** Fetches from this machine, which only tests allow. */
export function fetchHere(
  url: string,
  options: WebFetchOptions = {},
  context: Parameters<typeof call>[2] = {},
): Promise<string> {
  return call(fetchTool({ allowAddress: (address) => address === "127.0.0.1", ...options }), { url }, context);
}

/** Returns the result of `fetch` without address and title. */
export async function textAt(url: string, options: WebFetchOptions = {}): Promise<string> {
  const said = await fetchHere(url, options);
  return said.slice(said.indexOf("\n\n") + 2);
}

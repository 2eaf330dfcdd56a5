import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { call } from "../workspace/test-folder.fixture.ts";
import { type FetchOptions, fetchTool } from "./fetch.ts";

/** A request as a server got it. */
export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A web server on this machine for one test, and what it was asked. */
export class TestServer implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server;

  private constructor(listener: RequestListener) {
    // It never closes a connection of its own accord.
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

  /** A server that always gives the same. */
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

/** Sends somebody elsewhere. */
export function sendTo(response: ServerResponse, location: string, status = 302): void {
  response.writeHead(status, { location }).end();
}

/** Fetches from this machine, as no other than a test may. */
export function fetchHere(
  url: string,
  options: FetchOptions = {},
  context: Parameters<typeof call>[2] = {},
): Promise<string> {
  return call(fetchTool({ allowAddress: (address) => address === "127.0.0.1", ...options }), { url }, context);
}

/** What `fetch` answers, without the address and the title. */
export async function textAt(url: string, options: FetchOptions = {}): Promise<string> {
  const said = await fetchHere(url, options);
  return said.slice(said.indexOf("\n\n") + 2);
}

import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as listenTo } from "node:net";

/** A server on 127.0.0.1 that lives until the end of the block that it is declared in with `await using`. */
export interface TestServer extends AsyncDisposable {
  /** With `/v1` at its end. */
  readonly baseURL: string;
  /** How many connections were made to it. */
  readonly connections: number;
}

export async function serve(listener: RequestListener): Promise<TestServer> {
  // It never closes a connection of its own accord, such as one that a client is about to use again.
  const server = createServer({ keepAliveTimeout: 600_000 }, listener);
  let connections = 0;
  server.on("connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get connections() {
      return connections;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An address at which nobody listens, nor can: its port is one that a connection goes out from, as long as we live. */
export async function deadAddress(): Promise<string> {
  const server = listenTo((far) => far.unref())
    .listen(0, "127.0.0.1")
    .unref();
  await once(server, "listening");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1").unref();
  await once(near, "connect");
  return `http://127.0.0.1:${near.localPort}/v1`;
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}

/** Tells a request for the window of a model, which comes before the first request for a response. */
export function asksWindow({ url = "" }: IncomingMessage): boolean {
  return /\/(api\/(show|ps|v0\/models)|props|v1\/models)(\?|$)/.test(url);
}

/** Answers with an event stream, all in one write. */
export function streamed(response: ServerResponse, ...events: readonly (object | string)[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map(eventOf).join(""));
}

/** One event as it goes over the wire. */
export function eventOf(data: object | string): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** A piece of an answer: `delta` with an optional reason to finish. */
export function chunk(delta: object, finish: string | null = null): object {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

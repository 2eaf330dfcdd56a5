import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as listenTo } from "node:net";

/** A server on 127.0.0.1 that lives until the end of the block with its `await using`. */
export interface TestServer extends AsyncDisposable {
  /** With `/v1` at its end. */
  readonly baseURL: string;
  /** Number of connections so far. */
  readonly connections: number;
}

export async function serve(listener: RequestListener): Promise<TestServer> {
  // Never closes an idle connection that a client may be about to reuse.
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

/** An address that refuses connections: its port belongs to an outgoing connection of this process. */
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

/** Returns whether a request asks for the window of a model, as before the first response. */
export function asksWindow({ url = "" }: IncomingMessage): boolean {
  return /\/(api\/(show|ps|v0\/models)|props|v1\/models)(\?|$)/.test(url);
}

/** Answers with an event stream, all in one write. */
export function streamed(response: ServerResponse, ...events: readonly (object | string)[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(events.map(eventOf).join(""));
}

/** One event on the wire. */
export function eventOf(data: object | string): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** A chunk of an answer: `delta` with an optional finish reason. */
export function chunk(delta: object, finish: string | null = null): object {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

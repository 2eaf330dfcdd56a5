import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { orAborted } from "@banyan/core/hosts";
import { McpError } from "../entries/error.ts";

const PATH = "/callback";

/**
 * Receives the answer to a sign-in: a web server on a port of 127.0.0.1, to which the browser is redirected (RFC 8252,
 * section 7.3). Accepts one answer, and only with the `state` of the current request.
 */
export class Loopback implements AsyncDisposable {
  readonly #server: Server;
  #waiting: { readonly state: string; readonly answer: PromiseWithResolvers<URLSearchParams> } | undefined;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", ({ method, url = "" }, response) => {
      const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
      if (method !== "GET" || pathname !== PATH) return respondText(response, 404, "This address does not exist.");
      const waiting = this.#waiting;
      if (waiting === undefined || !isSameSecret(searchParams.get("state") ?? "", waiting.state)) {
        return respondText(response, 400, "This answer does not belong to a running sign-in. Sign in again.");
      }
      this.#waiting = undefined;
      respondText(response, 200, "Banyan received the result of the sign-in. You can close this page.");
      waiting.answer.resolve(searchParams);
    });
  }

  /** Listens on a port; 0 means any free port. Rejects with an `McpError` if the port is taken. */
  static async open(port = 0): Promise<Loopback> {
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
    } catch (error) {
      throw McpError.because(error, "sign-in", `Port ${port} is in use. Set oauth.callbackPort to another port.`);
    }
    return new Loopback(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${PATH}`;
  }

  /** Waits for the answer with this `state`. Rejects with the signal's reason. */
  async answer(state: string, signal: AbortSignal): Promise<URLSearchParams> {
    signal.throwIfAborted();
    const answer = Promise.withResolvers<URLSearchParams>();
    this.#waiting = { state, answer };
    return orAborted(answer.promise, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function isSameSecret(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function respondText(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      connection: "close",
    })
    .end(text);
}

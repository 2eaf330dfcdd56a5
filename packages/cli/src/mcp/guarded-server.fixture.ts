import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** An MCP server on 127.0.0.1 that requires a token, with its authorization server. */
export class GuardedServer implements AsyncDisposable {
  readonly #server: Server;
  /** Number of sign-ins. */
  signedIn = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", this.#origin);
      const body = await text(request);
      const json = (status: number, content: object, headers = {}) =>
        response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(content));
      const origin = this.#origin;
      switch (pathname) {
        case "/.well-known/oauth-authorization-server":
          return json(200, {
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            response_types_supported: ["code"],
            code_challenge_methods_supported: ["S256"],
          });
        case "/register":
          return json(201, { ...JSON.parse(body), client_id: "client" });
        case "/authorize": {
          const back = new URL(searchParams.get("redirect_uri") ?? "");
          back.search = new URLSearchParams({ code: "code", state: searchParams.get("state") ?? "" }).toString();
          return response.writeHead(302, { location: back.href }).end();
        }
        case "/token":
          this.signedIn += 1;
          return json(200, { access_token: "token", token_type: "Bearer" });
        case "/mcp":
          break;
        default:
          return json(404, {});
      }
      if (request.headers.authorization !== "Bearer token") return json(401, {}, { "www-authenticate": "Bearer" });
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method } = JSON.parse(body);
      if (id === undefined) return response.writeHead(202).end();
      if (method !== "initialize") return json(200, { jsonrpc: "2.0", id, error: { code: -32601, message: "No" } });
      const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "guarded", version: "1" } };
      return json(200, { jsonrpc: "2.0", id, result });
    });
  }

  static async open(): Promise<GuardedServer> {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new GuardedServer(server);
  }

  get url(): string {
    return `${this.#origin}/mcp`;
  }

  get #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Gate, HttpPuppet } from "./http-puppet.fixture.ts";

/** A request to the authorization server. */
export interface Asked {
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
}

/**
 * An authorization server on 127.0.0.1 whose user always agrees. The server checks PKCE, issues each refresh token
 * once, and accepts only a registered redirect address.
 */
export class AuthorizationServer implements AsyncDisposable {
  /** The requests, oldest first. */
  readonly asked: Asked[] = [];
  /** Known clients, with their redirect addresses and an optional secret. */
  readonly clients = new Map<string, { readonly ways: readonly string[]; readonly secret?: string }>();
  /** Delays the answer to a refresh, or refuses the refresh with `invalid_scope` by rejecting. */
  beforeRefresh: () => Promise<void> = async () => {};
  readonly #codes = new Map<string, { readonly challenge: string; readonly scope: string; readonly way: string }>();
  readonly #refreshing = new Map<string, string>();
  /** The valid tokens, with their scopes. */
  readonly #tokens = new Map<string, string>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", this.issuer);
      const body = await text(request);
      const isJson = request.headers["content-type"]?.includes("json");
      const values = isJson ? JSON.parse(body) : Object.fromEntries([...searchParams, ...new URLSearchParams(body)]);
      this.asked.push({ path: pathname, values, headers: request.headers });
      try {
        if (values.grant_type === "refresh_token") await this.beforeRefresh();
      } catch {
        return void response.writeHead(400).end(JSON.stringify({ error: "invalid_scope" }));
      }
      this.#answer(pathname, values, request.headers, response);
    });
  }

  static async open(): Promise<AuthorizationServer> {
    const server = createServer({ keepAliveTimeout: 600_000 });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return new AuthorizationServer(server);
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns the requests to a path. */
  at(path: string): Asked[] {
    return this.asked.filter((one) => one.path === path);
  }

  /** Returns the scopes of a valid token. */
  scopesOf(header: string | undefined): readonly string[] | undefined {
    return this.#tokens.get(header?.replace("Bearer ", "") ?? "")?.split(" ");
  }

  /** Expires all access tokens. Refresh tokens stay valid. */
  expire(): void {
    this.#tokens.clear();
  }

  /** Revokes all tokens. */
  revoke(): void {
    this.expire();
    this.#refreshing.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(path: string, values: Asked["values"], headers: IncomingHttpHeaders, response: ServerResponse): void {
    const json = (status: number, content: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(content));
    const { issuer } = this;
    switch (path) {
      case "/.well-known/oauth-authorization-server":
        return void json(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
          code_challenge_methods_supported: ["S256"],
        });
      case "/register": {
        const client_id = randomUUID();
        this.clients.set(client_id, { ways: values.redirect_uris as unknown as string[] });
        return void json(201, { ...values, client_id });
      }
      case "/authorize": {
        const { client_id = "", redirect_uri = "", state = "", code_challenge = "", scope = "" } = values;
        if (!this.clients.get(client_id)?.ways.includes(redirect_uri)) return void json(400, { error: "unknown_way" });
        const code = randomUUID();
        this.#codes.set(code, { challenge: code_challenge, scope, way: redirect_uri });
        const back = new URL(redirect_uri);
        back.search = new URLSearchParams({ code, state }).toString();
        return void response.writeHead(302, { location: back.href }).end();
      }
      case "/token":
        return this.#grant(values, headers, json);
    }
    json(404, {});
  }

  #grant(
    { grant_type, code = "", code_verifier = "", redirect_uri, refresh_token = "", scope: asked = "" }: Asked["values"],
    { authorization = "" }: IncomingHttpHeaders,
    json: (status: number, content: object) => void,
  ): void {
    const give = (scope: string) => {
      const [access_token, again] = [randomUUID(), randomUUID()];
      this.#tokens.set(access_token, scope);
      this.#refreshing.set(again, scope);
      json(200, { access_token, refresh_token: again, token_type: "Bearer", expires_in: 3600, scope });
    };
    if (grant_type === "client_credentials") {
      const [id = "", secret] = Buffer.from(authorization.replace("Basic ", ""), "base64").toString().split(":");
      return this.clients.get(id)?.secret === secret ? give(asked) : json(401, { error: "invalid_client" });
    }
    if (grant_type === "refresh_token") {
      const scope = this.#refreshing.get(refresh_token);
      this.#refreshing.delete(refresh_token);
      return scope === undefined ? json(400, { error: "invalid_grant" }) : give(scope);
    }
    const known = this.#codes.get(code);
    this.#codes.delete(code);
    const fits = createHash("sha256").update(code_verifier).digest("base64url") === known?.challenge;
    return known && fits && known.way === redirect_uri ? give(known.scope) : json(400, { error: "invalid_grant" });
  }
}

/** A puppet that requires a token of an authorization server: the scope `read`, and `write` for the tool `echo`. */
export function guardedPuppet(authority: () => AuthorizationServer): Promise<HttpPuppet> {
  const gate: Gate = (request, response) => {
    const resource = `http://${request.headers.host}`;
    const metadata = `${resource}/.well-known/oauth-protected-resource/mcp`;
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ resource: `${resource}/mcp`, authorization_servers: [authority().issuer] }));
      return true;
    }
    const scopes = authority().scopesOf(request.headers.authorization);
    const challenge = (status: number, more: string) => {
      response.writeHead(status, { "www-authenticate": `Bearer ${more}, resource_metadata="${metadata}"` }).end();
      return true;
    };
    if (scopes === undefined) return challenge(401, 'error="invalid_token", scope="read"');
    return false;
  };
  return HttpPuppet.open({}, gate, (message, { headers }) =>
    message.method === "tools/call" &&
    message.params.name === "echo" &&
    !authority().scopesOf(headers.authorization)?.includes("write")
      ? 'Bearer error="insufficient_scope", scope="write"'
      : undefined,
  );
}

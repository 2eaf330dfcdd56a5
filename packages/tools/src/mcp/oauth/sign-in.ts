import { createHash, randomUUID } from "node:crypto";
import { orAborted } from "@banyan/core/hosts";
import {
  computeScopeUnion,
  type FetchLike,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { OAuthEntry } from "../entries/entry.ts";
import { McpError } from "../entries/error.ts";
import type { Credentials } from "./credentials.ts";
import { Loopback } from "./loopback.ts";

/**
 * Shows a user the address of the sign-in to `server`. Does not wait for the end of the sign-in.
 * @example const openAddress: OpenAddress = (address, server) => console.log(`Sign in to ${server} at ${address}`);
 */
export type OpenAddress = (address: URL, server: string) => void | Promise<void>;

const PATIENCE = 300_000;

/** Milliseconds for an authorization server to refresh tokens. Other processes wait during this time. */
const REFRESH = 30_000;

const NOWHERE = "http://127.0.0.1/callback";

/** Lets a user sign in to an MCP server. */
export interface SignInUser {
  /** Opens a page in the user's browser. Absent if no user is waiting. */
  readonly open: OpenAddress | undefined;
  /** The remedy if no user is waiting, as the end of a sentence that begins with "... wants you to sign in: ". */
  readonly advice: string;
}

interface SignInAttempt {
  readonly verifier: string;
  readonly answer: Promise<URLSearchParams>;
}

/**
 * Signs in to one server with OAuth 2.1, for the client package. Tokens are refreshed without a user. If a user must
 * act, `open` shows the address in a browser. Without `open`, an `McpError` of code `sign-in` is thrown, and no client
 * is registered.
 *
 *   refused ──▶ tokens refreshed ──▶ again
 *          ╰──▶ address opened ──▶ answer on 127.0.0.1 ──▶ tokens ──▶ again
 */
export class SignIn implements OAuthClientProvider, AsyncDisposable {
  readonly clientMetadataUrl?: string;
  readonly #server: string;
  readonly #entry: OAuthEntry;
  readonly #credentials: Credentials;
  readonly #person: SignInUser;
  readonly #loopback: Loopback | undefined;
  readonly #closed = new AbortController();
  /** The PKCE verifiers of sign-ins whose address is not known yet. */
  readonly #verifiers: string[] = [];
  #walk: SignInAttempt | undefined;
  #lastVerifier: string | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #given: StoredOAuthTokens | undefined;
  #tried: string | undefined;
  /** The access tokens that this process read or refreshed. */
  readonly #known = new Set<string>();

  private constructor(
    server: string,
    entry: OAuthEntry,
    credentials: Credentials,
    person: SignInUser,
    loopback: Loopback | undefined,
  ) {
    this.#server = server;
    this.#entry = entry;
    this.#credentials = credentials;
    this.#person = person;
    this.#loopback = loopback;
    if (entry.clientMetadataUrl !== undefined) this.clientMetadataUrl = entry.clientMetadataUrl;
  }

  /** Opens the redirect port if a user is waiting. Rejects with an `McpError` if no port is available. */
  static async prepare(
    server: string,
    entry: OAuthEntry,
    credentials: Credentials,
    person: SignInUser,
  ): Promise<SignIn> {
    const loopback = person.open && (await Loopback.open(entry.callbackPort));
    return new SignIn(server, entry, credentials, person, loopback);
  }

  get redirectUrl(): string {
    return this.#loopback?.url ?? NOWHERE;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "Banyan",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...(this.#entry.scope !== undefined && { scope: this.#entry.scope }),
    };
  }

  state(): string {
    return randomUUID();
  }

  async clientInformation(at?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret, issuer } = this.#entry;
    const { client, tokens } = await this.#credentials.read();
    if (clientId !== undefined) {
      // Without a configured issuer, only the authorization server of the first sign-in is accepted.
      const home = issuer ?? tokens?.issuer ?? at?.issuer;
      if (home !== undefined && at !== undefined && !isSameIssuer(home, at.issuer))
        throw this.#stranger(home, at.issuer);
      return {
        client_id: clientId,
        ...(clientSecret !== undefined && { client_secret: clientSecret }),
        ...(home !== undefined && { issuer: home }),
      };
    }
    if (this.#person.open === undefined) {
      if (client === undefined) throw this.#needed();
      return client;
    }
    if (client === undefined || tokens?.refresh_token !== undefined) return client;
    // Most authorization servers accept only the registered redirect address, and the port has changed since.
    const isForHere = "redirect_uris" in client && client.redirect_uris?.includes(this.redirectUrl);
    return isForHere || this.clientMetadataUrl === client.client_id ? client : undefined;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#credentials.change({ client });
  }

  async tokens(at?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { tokens } = await this.#credentials.read();
    this.#given = tokens;
    // The client package passes an authorization server only before it refreshes the tokens.
    if (at === undefined) this.#tried = tokens?.access_token;
    if (tokens) this.#known.add(tokens.access_token);
    return tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    this.#discovery = undefined;
    await this.#credentials.exclusively(async ({ tokens: stored }, change) => {
      // If another process replaced the tokens, its tokens are newer and must stay.
      const isOld = this.#known.has(tokens.access_token) && stored?.access_token !== tokens.access_token;
      if (!isOld) await change({ tokens, wanted: undefined });
    });
  }

  /**
   * Returns a `fetch` that lets only one process refresh tokens at a time: a refresh token works once, and a server
   * that sees it twice may revoke all tokens. If another process has refreshed the tokens meanwhile, they are the
   * response.
   */
  refreshing(fetch: FetchLike): FetchLike {
    return async (address, init) => {
      const sent = init?.body instanceof URLSearchParams ? init.body : new URLSearchParams();
      if (sent.get("grant_type") !== "refresh_token") return fetch(address, init);
      return this.#credentials.exclusively(async ({ tokens }, change) => {
        if (tokens === undefined) return Response.json({ error: "invalid_grant" }, { status: 400 });
        const isReplaced = tokens.access_token !== this.#tried || tokens.refresh_token !== sent.get("refresh_token");
        if (isReplaced) return this.#noted(Response.json(tokens), tokens);
        const response = await fetch(address, { ...init, signal: AbortSignal.timeout(REFRESH) });
        const fresh = await tokensIn(response.clone());
        if (fresh === undefined) return response;
        await change({ tokens: { ...tokens, ...fresh } });
        return this.#noted(response, fresh);
      }, this.#closed.signal);
    };
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifiers.push(verifier);
  }

  codeVerifier(): string {
    if (this.#lastVerifier === undefined) throw this.#needed();
    return this.#lastVerifier;
  }

  async redirectToAuthorization(address: URL): Promise<void> {
    const requestedScope = address.searchParams.get("scope") ?? undefined;
    const { tokens, wanted } = await this.#credentials.read();
    const { open } = this.#person;
    if (open === undefined || this.#loopback === undefined) {
      this.#discovery = undefined;
      if (requestedScope !== wanted) await this.#credentials.change({ wanted: requestedScope });
      throw this.#needed();
    }
    const challenge = address.searchParams.get("code_challenge");
    const verifier = this.#verifiers.find((one) => createHash("sha256").update(one).digest("base64url") === challenge);
    this.#verifiers.length = 0;
    if (this.#walk !== undefined) return;
    const scope = computeScopeUnion(
      tokens === undefined ? (this.#entry.scope ?? requestedScope) : requestedScope,
      wanted,
    );
    if (scope !== undefined) address.searchParams.set("scope", scope);
    if (verifier === undefined)
      throw new McpError("sign-in", `Could not sign in to the MCP server "${this.#server}". Try again.`);
    const answer = this.#loopback.answer(
      address.searchParams.get("state") ?? "",
      AbortSignal.any([this.#closed.signal, AbortSignal.timeout(PATIENCE)]),
    );
    // The waiting request handles the rejection.
    answer.catch(() => {});
    this.#walk = { verifier, answer };
    await open(address, this.#server);
  }

  async answer(signal: AbortSignal): Promise<URLSearchParams> {
    const walk = this.#walk;
    if (walk === undefined) throw this.#needed();
    try {
      const answer = await orAborted(walk.answer, signal);
      this.#lastVerifier = walk.verifier;
      return answer;
    } catch (cause) {
      if (signal.aborted) throw cause;
      throw McpError.because(
        cause,
        "sign-in",
        `The sign-in to the MCP server "${this.#server}" was not completed in the browser. Try again.`,
      );
    } finally {
      this.#walk = undefined;
    }
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (scope === "verifier") this.#lastVerifier = undefined;
    if (scope === "discovery" || scope === "all") this.#discovery = undefined;
    if (scope === "client" || scope === "all") await this.#credentials.change({ client: undefined });
    if (scope === "tokens" || scope === "all") {
      await this.#credentials.exclusively(async ({ tokens }, change) => {
        // If another process refreshed the tokens meanwhile, the new tokens are valid and must stay.
        if (tokens?.access_token === this.#given?.access_token) await change({ tokens: undefined });
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(new Error("it was closed"));
    await this.#loopback?.[Symbol.asyncDispose]();
  }

  #stranger(home: string, other: string): McpError {
    const where = `the authorization server ${other}, but this program is registered at ${home}`;
    return new McpError(
      "sign-in",
      `The MCP server "${this.#server}" wants you to sign in at ${where}. Nothing was sent.`,
    );
  }

  /** Remembers the tokens of a response before the client package saves them. */
  #noted(response: Response, { access_token }: OAuthTokens): Response {
    this.#known.add(access_token);
    return response;
  }

  #needed(): McpError {
    const { advice } = this.#person;
    return new McpError("sign-in", `The MCP server "${this.#server}" wants you to sign in: ${advice}`);
  }
}

/** Returns the tokens of a response; undefined if it rejects the request. The response does not decide which issuer is stored. */
async function tokensIn(response: Response): Promise<OAuthTokens | undefined> {
  const { issuer: _, ...tokens } = response.ok ? await response.json().catch(() => ({})) : {};
  return typeof tokens.access_token === "string" ? tokens : undefined;
}

/** Authorization servers give their address with or without a trailing slash. */
function isSameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, "") === b.replace(/\/$/, "");
}

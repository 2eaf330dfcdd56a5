import type { IncomingMessage } from "node:http";
import type { Principal, ShareScope } from "@banyan/desk";
import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import { isOwnOrigin } from "./addresses.ts";
import type { Principals, TokenHolder } from "./principal.ts";
import { randomToken } from "./secret.ts";
import { SignedInPage } from "./signed-in-page.ts";

/** The parts of a request that decide whether the server admits it. */
export interface GateRequest {
  readonly method: string;
  readonly from: string;
  header(name: string): string | undefined;
}

/** A refusal of a request: its HTTP status and a sentence for the client. */
export interface GateRefusal {
  readonly ok: false;
  readonly status: 401 | 403 | 421 | 429;
  readonly message: string;
}

/** The decision about a request: admitted with the client's principal, or refused. */
export type GateVerdict = { readonly ok: true; readonly principal: Principal } | GateRefusal;

/** A page that signed in, and the path to open. */
export interface PageSignIn {
  readonly page: SignedInPage;
  readonly path: string | undefined;
}

/** Returns the principal of a request, or nothing to refuse the request. */
export type Authorize = (request: Request) => Promise<Principal | undefined>;

/** The Hono variables of an admitted request. */
export interface HttpEnvironment {
  /** Absent if the request did not come from Node. */
  Bindings: Partial<HttpBindings>;
  Variables: { principal: Principal };
}

/** The decision about a request for a socket. An admitted page must still prove that it has its key. */
export type SocketVerdict =
  | { readonly ok: true; readonly principal: Principal; readonly page?: SignedInPage }
  | GateRefusal;

/**
 * Admits or refuses requests.
 *
 * | a request with | result |
 * |---|---|
 * | a `Host` that is not this server's | 421: a foreign name resolves to this server |
 * | a foreign `Origin`, or from another site or in a frame according to the browser | 403, unless the origin is allowed |
 * | a token of this server | admitted with the rights of the token, whatever other clients tried |
 * | a wrong token, from an address with too many wrong tokens | 429 |
 * | a wrong token, or none | 401 |
 * | a page's cookie and an `Origin`, for a socket | admitted to prove its key (S20); every browser sends `Origin` |
 * | a page's cookie, for another API address | 401: the cookie alone gives no access |
 */
export class Gate {
  readonly #principals: Principals;
  readonly #hosts: () => Pick<ReadonlySet<string>, "has">;
  readonly #cookie: () => string;
  readonly #origins: ReadonlySet<string>;
  readonly #authorize: Authorize | undefined;
  readonly #attempts = new Attempts();
  readonly #once = new OneTimeTokens();

  /**
   * `origins`: other origins whose pages may send requests. Default: none. `authorize`: decides about requests without
   * a token of this server.
   */
  constructor(
    principals: Principals,
    options: {
      hosts(): Pick<ReadonlySet<string>, "has">;
      cookie(): string;
      origins?: ReadonlySet<string>;
      authorize?: Authorize | undefined;
    },
  ) {
    this.#principals = principals;
    this.#authorize = options.authorize;
    this.#origins = options.origins ?? new Set();
    this.#hosts = options.hosts;
    this.#cookie = options.cookie;
  }

  async judge(knock: GateRequest, request: Request): Promise<GateVerdict> {
    const stranger = this.stranger(knock);
    if (stranger) return stranger;
    const bearer = bearerOf(knock);
    const holder = bearer === undefined ? undefined : this.#principals.byToken(bearer);
    if (holder) return { ok: true, principal: holder.principal };
    if (this.#authorize) {
      const principal = await this.#authorize(request);
      return principal ? { ok: true, principal } : NOT_AUTHORIZED;
    }
    if (bearer !== undefined) return this.#wrong(knock);
    return this.#pageOfToken(knock) ? COOKIE_ALONE : NO_TOKEN;
  }

  /**
   * Judges a request for the page. The page's files contain no data: all data comes over the socket. `once`: the page
   * of an authorized user must first sign in with this one-time token.
   */
  async judgePage(knock: GateRequest, request: Request): Promise<GateVerdict | { readonly once: string }> {
    const page = bearerOf(knock) === undefined ? await this.page(knock, request) : undefined;
    if (page) return { ok: true, principal: page.principal };
    const verdict = await this.judge(knock, request);
    if (!verdict.ok || !this.#authorize || bearerOf(knock) !== undefined) return verdict;
    if (isAhead(knock)) return LOOKED_AHEAD;
    const { pathname, search } = new URL(request.url);
    return { once: this.#once.give({ ...this.#principals.authorized(verdict.principal), path: pathname + search }) };
  }

  async judgeSocket(knock: GateRequest, request: Request): Promise<SocketVerdict> {
    const stranger = this.stranger(knock);
    if (stranger) return stranger;
    const page = bearerOf(knock) === undefined ? await this.page(knock, request) : undefined;
    if (!page) return this.judge(knock, request);
    return knock.header("origin") === undefined ? NO_ORIGIN : { ok: true, principal: page.principal, page };
  }

  /**
   * The page that a request's cookie belongs to. The cookie alone does not prove that the request comes from this page.
   * The page of an authorized user counts only while `authorize` names the same user and rights.
   */
  async page(knock: GateRequest, request: Request): Promise<SignedInPage | undefined> {
    const cookie = cookieIn(knock.header("cookie"), this.#cookie());
    const page = this.#pageOfToken(knock);
    if (page || cookie === undefined || !this.#authorize) return page;
    const principal = await this.#authorize(request);
    return principal && SignedInPage.of(cookie, principal, this.#principals.authorized(principal).token);
  }

  #pageOfToken(knock: GateRequest): SignedInPage | undefined {
    const cookie = cookieIn(knock.header("cookie"), this.#cookie());
    return cookie === undefined ? undefined : this.#principals.byCookie(cookie);
  }

  /**
   * Returns the refusal of a request that no token could admit. `isFrame`: the page itself frames the requested
   * document.
   */
  stranger({ method, header }: GateRequest, isFrame = false): GateRefusal | undefined {
    const host = header("host");
    if (host === undefined || !this.#hosts().has(host.toLowerCase())) return WRONG_HOST;
    const origin = header("origin");
    const isAllowed = origin !== undefined && this.#origins.has(origin);
    if (origin !== undefined && !isAllowed && !isOwnOrigin(origin, host)) return WRONG_ORIGIN;
    const isOwnFrame = isFrame && header("sec-fetch-dest") === "iframe" && header("sec-fetch-site") === "same-origin";
    if (EMBEDDED.has(header("sec-fetch-dest") ?? "") && !isOwnFrame) return IN_A_FRAME;
    // Following a link from a foreign page is no request of that page: the page sees nothing and changes nothing here.
    const followsLink = header("sec-fetch-mode") === "navigate" && (method === "GET" || method === "HEAD");
    return isFromElsewhere(header) && !followsLink && !isAllowed ? WRONG_ORIGIN : undefined;
  }

  /** Returns a token of the owner that signs in one page, once and within a minute. */
  tokenForOnePage(): string {
    return this.#once.give(this.#principals.owner);
  }

  /** Exchanges a token from an opened address for a one-time token that signs the page in. */
  exchange(token: string, knock: GateRequest): { readonly once: string } | GateRefusal {
    const { header } = knock;
    // Prefetches and foreign links are not a user opening the address: the token is not checked, used up or counted. A
    // shared link may be followed from anywhere. It shows one conversation, and does not replace a page that sees more
    // (`signIn`).
    if (isAhead(knock)) return LOOKED_AHEAD;
    if (isFromElsewhere(header) && !this.#principals.byLink(token)) return LED_HERE;
    const holder = this.#holderOf(token);
    return holder ? { once: this.#once.give(holder) } : this.#wrong(knock);
  }

  /**
   * Signs in a page of this server that presents a token (S3). If a signed-in browser opens a shared link, its page
   * stays signed in. Returns only the link's scope, because a cookie must not be enough to get a key.
   */
  signIn(token: string, knock: GateRequest): PageSignIn | { readonly stays: ShareScope } | GateRefusal {
    const site = knock.header("sec-fetch-site");
    if (knock.header("origin") === undefined || (site !== undefined && site !== "same-origin")) return NO_ORIGIN;
    const holder = this.#holderOf(token);
    if (!holder) return this.#wrong(knock);
    const { only } = holder.principal;
    const before = only && this.#pageOfToken(knock);
    if (before && !before.principal.only) return { stays: only };
    return { page: SignedInPage.begin(holder.principal, holder.token), path: holder.path };
  }

  #holderOf(token: string): TokenHolder | undefined {
    const holder = this.#once.take(token) ?? this.#principals.byToken(token);
    return holder?.principal.only?.ended.aborted ? undefined : holder;
  }

  /** A correct token is checked first, so that wrong tokens from the same address lock out nobody who has one. */
  #wrong({ from }: GateRequest): GateRefusal {
    if (this.#attempts.isBarred(from)) return BARRED;
    this.#attempts.failed(from);
    return WRONG_TOKEN;
  }
}

/** Returns whether a browser looks ahead: no user opens the address. */
function isAhead({ header }: GateRequest): boolean {
  return header("sec-purpose") !== undefined || header("purpose") !== undefined;
}

const EMBEDDED: ReadonlySet<string> = new Set(["iframe", "frame", "fencedframe", "embed", "object"]);

function isFromElsewhere(header: GateRequest["header"]): boolean {
  const site = header("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}

function bearerOf({ header }: GateRequest): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(header("authorization") ?? "")?.[1];
}

const refuse = (status: GateRefusal["status"], message: string): GateRefusal => ({ ok: false, status, message });
const NO_TOKEN = refuse(401, "Not signed in. Open the address that banyan serve printed.");
const NOT_AUTHORIZED = refuse(401, "Not signed in.");
const WRONG_TOKEN = refuse(401, "Wrong token for this server. Open the address that banyan serve printed.");
const BARRED = refuse(429, "Too many wrong tokens from this address. Try again in a minute, or use the right token.");
const WRONG_HOST = refuse(421, "This host name is not allowed. Allow the name with --allow-host.");
const WRONG_ORIGIN = refuse(403, "Requests from other sites are not allowed.");
const IN_A_FRAME = refuse(403, "This page can't be embedded in other pages.");
const NO_ORIGIN = refuse(403, "The request has no Origin header.");
const COOKIE_ALONE = refuse(401, "A page's cookie gives no access here. Programs send their token as a bearer token.");
const LED_HERE = refuse(
  403,
  "A token in a link from another page is not accepted. Copy the address that banyan serve printed into the address bar.",
);
const LOOKED_AHEAD = refuse(403, "A prefetch does not sign in. Open the address to sign in.");

function cookieIn(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}

const MOST_FAILED = 20;
const WITHIN = 60_000;
const ADDRESSES = 1_000;

/** Counts wrong tokens per address, against guessing. A request with a correct token is not affected. */
class Attempts {
  readonly #failed = new Map<string, { count: number; since: number }>();

  isBarred(address: string, now = Date.now()): boolean {
    const failed = this.#failed.get(address);
    return failed !== undefined && now - failed.since < WITHIN && failed.count >= MOST_FAILED;
  }

  failed(address: string, now = Date.now()): void {
    const known = this.#failed.get(address);
    const current = known && now - known.since < WITHIN ? known : { count: 0, since: now };
    this.#failed.delete(address);
    this.#failed.set(address, { count: current.count + 1, since: current.since });
    if (this.#failed.size > ADDRESSES) this.#failed.delete(this.#failed.keys().next().value as string);
  }
}

const GOOD_FOR = 60_000;

const MOST_GIVEN = 100;

/** One-time tokens that sign in one page soon, for use where others may see them. */
class OneTimeTokens {
  readonly #given = new Map<string, { readonly holder: TokenHolder; readonly until: number }>();

  give(holder: TokenHolder): string {
    const token = randomToken();
    this.#given.set(token, { holder, until: performance.now() + GOOD_FOR });
    if (this.#given.size > MOST_GIVEN) this.#given.delete(this.#given.keys().next().value as string);
    return token;
  }

  take(token: string): TokenHolder | undefined {
    const session = this.#given.get(token);
    this.#given.delete(token);
    return session && performance.now() < session.until ? session.holder : undefined;
  }
}

/** Returns the parts of a Node request that decide whether the server admits it. */
export function gateRequest(request: IncomingMessage): GateRequest {
  return {
    method: request.method ?? "GET",
    from: request.socket.remoteAddress ?? "unknown",
    header(name) {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
  };
}

/** Returns a Node request without its body, for `authorize`. */
export function fetchRequest({ headers: given, url = "/" }: IncomingMessage): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) for (const one of [value ?? []].flat()) headers.append(name, one);
  return new Request(URL.parse(url, `http://${given.host}`) ?? "http://localhost", { headers });
}

/** The same as `gateRequest`, for a request to a Hono app. A request that did not come from Node has no address. */
export function requestOf({ env, req: { raw } }: Pick<Context<HttpEnvironment>, "env" | "req">): GateRequest {
  if (env.incoming) return gateRequest(env.incoming);
  const own = (name: string) => (name === "host" ? new URL(raw.url).host : undefined);
  return { method: raw.method, from: "unknown", header: (name) => raw.headers.get(name) ?? own(name) };
}

import type { IncomingMessage } from "node:http";
import type { Only, Principal } from "../desk/principal.ts";
import { isOwnOrigin } from "./addresses.ts";
import type { Holder, Principals } from "./principal.ts";
import { randomToken } from "./secret.ts";
import { SignedInPage } from "./signed-in-page.ts";

/** What of a request decides whether it is let in. */
export interface Knock {
  readonly method: string;
  /** The address that it comes from. */
  readonly from: string;
  header(name: string): string | undefined;
}

/** Why a request is not let in, with the HTTP status of the refusal. */
export interface Refusal {
  readonly ok: false;
  readonly status: 401 | 403 | 421 | 429;
  readonly message: string;
}

/** Whether a request is let in: who it is from, or why not. */
export type Verdict = { readonly ok: true; readonly principal: Principal } | Refusal;

/** Whether somebody may connect; a page has to prove itself first. */
export type SocketVerdict =
  | { readonly ok: true; readonly principal: Principal; readonly page?: SignedInPage }
  | Refusal;

/**
 * Lets requests in, or not.
 *
 * | a request | is |
 * |---|---|
 * | with a `Host` that is not this server's | 421: its name was made to point here |
 * | with an `Origin` other than its `Host`, or from another site or into a frame by what the browser says | 403 |
 * | with a token of this server | let in, with the rights of its token, whatever others have tried |
 * | with a wrong token, from an address with too many of them | 429 |
 * | with a wrong one, or none | 401 |
 * | of a page that is signed in, for a socket | let in to prove itself (S20), if it says where it is from: every browser does |
 * | of a page that is signed in, for anything else of the API | 401: the cookie alone is worth nothing |
 */
export class Gate {
  readonly #principals: Principals;
  readonly #hosts: () => ReadonlySet<string>;
  readonly #cookie: () => string;
  readonly #attempts = new Attempts();
  readonly #once = new OneTimeTokens();

  /** The hosts and the cookie's name depend on the port, which is known once the server listens. */
  constructor(principals: Principals, options: { hosts(): ReadonlySet<string>; cookie(): string }) {
    this.#principals = principals;
    this.#hosts = options.hosts;
    this.#cookie = options.cookie;
  }

  /** Who asks for something of the API. */
  judge(knock: Knock): Verdict {
    const stranger = this.stranger(knock);
    if (stranger) return stranger;
    const bearer = bearerOf(knock);
    if (bearer === undefined) return this.page(knock) ? COOKIE_ALONE : NO_TOKEN;
    const holder = this.#principals.byToken(bearer);
    return holder ? { ok: true, principal: holder.principal } : this.#wrong(knock);
  }

  /** Who asks for the page, which shows nothing by itself: what it shows comes over its socket. */
  judgePage(knock: Knock): Verdict {
    const page = bearerOf(knock) === undefined ? this.page(knock) : undefined;
    return page ? { ok: true, principal: page.principal } : this.judge(knock);
  }

  /** Who asks for a socket. */
  judgeSocket(knock: Knock): SocketVerdict {
    const stranger = this.stranger(knock);
    if (stranger) return stranger;
    const page = bearerOf(knock) === undefined ? this.page(knock) : undefined;
    if (!page) return this.judge(knock);
    return knock.header("origin") === undefined ? NO_ORIGIN : { ok: true, principal: page.principal, page };
  }

  /** The page that the cookie of a request is of. It may be anybody who has the cookie: it shows that there is a page. */
  page(knock: Knock): SignedInPage | undefined {
    const cookie = cookieIn(knock.header("cookie"), this.#cookie());
    return cookie === undefined ? undefined : this.#principals.byCookie(cookie);
  }

  /** Why a request is refused whatever its token. `isFrame`: it is for what the page itself puts into a frame, and nobody else. */
  stranger({ method, header }: Knock, isFrame = false): Refusal | undefined {
    const host = header("host");
    if (host === undefined || !this.#hosts().has(host.toLowerCase())) return WRONG_HOST;
    const origin = header("origin");
    if (origin !== undefined && !isOwnOrigin(origin, host)) return WRONG_ORIGIN;
    const isOwnFrame = isFrame && header("sec-fetch-dest") === "iframe" && header("sec-fetch-site") === "same-origin";
    if (EMBEDDED.has(header("sec-fetch-dest") ?? "") && !isOwnFrame) return IN_A_FRAME;
    // To follow a link of a page elsewhere is no request of that page: it shows nothing to it, and changes nothing here.
    const followsLink = header("sec-fetch-mode") === "navigate" && (method === "GET" || method === "HEAD");
    return isFromElsewhere(header) && !followsLink ? WRONG_ORIGIN : undefined;
  }

  /** A token that signs one page of the owner in, soon, and then is worth nothing. */
  tokenForOnePage(): string {
    return this.#once.give(this.#principals.owner);
  }

  /** A token that stood in an address that somebody opened: exchanged for one that is good once, for the page to sign in with. */
  exchange(token: string, knock: Knock): { readonly once: string } | Refusal {
    const { header } = knock;
    // Neither is a person who opened the address; nothing is looked at, used up or counted. A link that somebody made is there to
    // be followed from anywhere: it shows one conversation, and takes the place of nobody who sees more (`signIn`).
    if (header("sec-purpose") !== undefined || header("purpose") !== undefined) return LOOKED_AHEAD;
    if (isFromElsewhere(header) && !this.#principals.byLink(token)) return LED_HERE;
    const holder = this.#holderOf(token);
    return holder ? { once: this.#once.give(holder) } : this.#wrong(knock);
  }

  /**
   * Signs a page of this server in that shows a token (S3). With a link, a browser that sees more already stays who it is, and is
   * only told what the link shows: a key goes to nobody for a cookie.
   */
  signIn(token: string, knock: Knock): SignedInPage | { readonly stays: Only } | Refusal {
    const site = knock.header("sec-fetch-site");
    if (knock.header("origin") === undefined || (site !== undefined && site !== "same-origin")) return NO_ORIGIN;
    const holder = this.#holderOf(token);
    if (!holder) return this.#wrong(knock);
    const { only } = holder.principal;
    const before = only && this.page(knock);
    if (before && !before.principal.only) return { stays: only };
    return SignedInPage.begin(holder.principal, holder.token);
  }

  #holderOf(token: string): Holder | undefined {
    const holder = this.#once.take(token) ?? this.#principals.byToken(token);
    return holder?.principal.only?.ended.aborted ? undefined : holder;
  }

  /** A right token was looked for first: however many wrong ones were shown, nobody is kept out who has one. */
  #wrong({ from }: Knock): Refusal {
    if (this.#attempts.isBarred(from)) return BARRED;
    this.#attempts.failed(from);
    return WRONG_TOKEN;
  }
}

/** Where a page of this server would stand inside of another page. */
const EMBEDDED: ReadonlySet<string> = new Set(["iframe", "frame", "fencedframe", "embed", "object"]);

/** Whether a browser says that a page of another origin is behind a request. */
function isFromElsewhere(header: Knock["header"]): boolean {
  const site = header("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}

function bearerOf({ header }: Knock): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(header("authorization") ?? "")?.[1];
}

const refuse = (status: Refusal["status"], message: string): Refusal => ({ ok: false, status, message });
const NO_TOKEN = refuse(401, "Not signed in. Open the address that banyan serve printed.");
const WRONG_TOKEN = refuse(401, "Wrong token for this server. Open the address that banyan serve printed.");
const BARRED = refuse(429, "Too many wrong tokens from this address. Try again in a minute, or use the right token.");
const WRONG_HOST = refuse(421, "This host name is not allowed. Allow it with --allow-host.");
const WRONG_ORIGIN = refuse(403, "Requests from other sites are not allowed.");
const IN_A_FRAME = refuse(403, "This page can't be embedded in other pages.");
const NO_ORIGIN = refuse(403, "The request has no Origin header.");
const COOKIE_ALONE = refuse(401, "Pages use the WebSocket. Programs send their token as a bearer token.");
const LED_HERE = refuse(
  403,
  "A token in a link from another page is not accepted. Open the address that banyan serve printed yourself.",
);
const LOOKED_AHEAD = refuse(403, "A prefetch does not sign in. Open the address to sign in.");

function cookieIn(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}

/** Wrong tokens that one address may show within the time. */
const MOST_FAILED = 20;
/** Milliseconds. */
const WITHIN = 60_000;
/** Addresses that are remembered; beyond, those that tried longest ago are forgotten. */
const ADDRESSES = 1_000;

/** Counts wrong tokens, so that nobody can try many. Whoever shows a right one is not asked about it. */
class Attempts {
  readonly #failed = new Map<string, { count: number; since: number }>();

  /** Whether an address has shown too many of them. */
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

/** Milliseconds for which one is good. */
const GOOD_FOR = 60_000;

/** How many there are at once; beyond, the oldest is worth nothing. */
const MOST_GIVEN = 100;

/** Tokens that sign one page in, soon, and then are worth nothing: for places that others may see. */
class OneTimeTokens {
  /** Whose each is, and until when, in milliseconds of the process; the oldest first. */
  readonly #given = new Map<string, { readonly holder: Holder; readonly until: number }>();

  give(holder: Holder): string {
    const token = randomToken();
    this.#given.set(token, { holder, until: performance.now() + GOOD_FOR });
    if (this.#given.size > MOST_GIVEN) this.#given.delete(this.#given.keys().next().value as string);
    return token;
  }

  /** Whose it is, once. */
  take(token: string): Holder | undefined {
    const given = this.#given.get(token);
    this.#given.delete(token);
    return given && performance.now() < given.until ? given.holder : undefined;
  }
}

/** What of a request decides whether it is let in. */
export function knockOf(request: IncomingMessage): Knock {
  return {
    method: request.method ?? "GET",
    from: request.socket.remoteAddress ?? "unknown",
    header(name) {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
  };
}

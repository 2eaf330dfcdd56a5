import { isOwnOrigin } from "./addresses.ts";
import { Attempts } from "./attempts.ts";
import type { Principal, Principals } from "./principal.ts";
import { randomToken } from "./secret.ts";

/** Milliseconds for which a token for one page is good. */
const GOOD_FOR = 60_000;

/** What of a request decides whether it is let in. */
export interface Knock {
  readonly method: string;
  /** Whether it asks for a WebSocket. */
  readonly upgrade: boolean;
  /** The address that it comes from. */
  readonly from: string;
  header(name: string): string | undefined;
}

/** Whether a request is let in: who it is from, or why not, with the HTTP status of the refusal. */
export type Verdict =
  | { readonly ok: true; readonly principal: Principal }
  | { readonly ok: false; readonly status: 401 | 403 | 421 | 429; readonly message: string };

/**
 * Lets requests in, or not.
 *
 * | a request | is |
 * |---|---|
 * | with a `Host` that is not this server's | 421: its name was made to point here |
 * | with an `Origin` other than its `Host`, or from another site by what the browser says | 403 |
 * | that changes something or becomes a socket, signed in by a page, without an `Origin` | 403: every browser sends one |
 * | from an address with too many wrong tokens | 429 |
 * | without a token of this server | 401 |
 * | any other | let in, with the rights of its token |
 */
export class Gate {
  readonly #principals: Principals;
  readonly #hosts: () => ReadonlySet<string>;
  readonly #cookie: () => string;
  readonly #attempts = new Attempts();
  /** Tokens for one page each, and until when they are good, in milliseconds of the process. */
  readonly #once = new Map<string, number>();

  /** The hosts and the cookie's name depend on the port, which is known once the server listens. */
  constructor(principals: Principals, options: { hosts(): ReadonlySet<string>; cookie(): string }) {
    this.#principals = principals;
    this.#hosts = options.hosts;
    this.#cookie = options.cookie;
  }

  /** Whether a request is let in. */
  judge(knock: Knock): Verdict {
    const stranger = this.stranger(knock);
    if (stranger) return stranger;
    const bearer = /^Bearer\s+(\S+)$/i.exec(knock.header("authorization") ?? "")?.[1];
    const cookie = cookieIn(knock.header("cookie"), this.#cookie());
    const secret = bearer ?? cookie;
    if (secret === undefined) return NO_TOKEN;
    if (this.#attempts.isBarred(knock.from)) return BARRED;
    const principal = bearer === undefined ? this.#principals.byPage(secret) : this.#principals.byToken(secret);
    if (!principal) {
      this.#attempts.failed(knock.from);
      return WRONG_TOKEN;
    }
    const safe = !knock.upgrade && (knock.method === "GET" || knock.method === "HEAD");
    if (bearer === undefined && !safe && knock.header("origin") === undefined) return NO_ORIGIN;
    return { ok: true, principal };
  }

  /** Why a request is refused whatever its token. */
  stranger({ header }: Knock): Extract<Verdict, { ok: false }> | undefined {
    const host = header("host");
    if (host === undefined || !this.#hosts().has(host.toLowerCase())) return WRONG_HOST;
    const origin = header("origin");
    if (origin !== undefined && !isOwnOrigin(origin, host)) return WRONG_ORIGIN;
    // A navigation from elsewhere is no request of a page elsewhere: it shows nothing to that page.
    const elsewhere = header("sec-fetch-site") === "cross-site" || header("sec-fetch-site") === "same-site";
    return elsewhere && header("sec-fetch-mode") !== "navigate" ? WRONG_ORIGIN : undefined;
  }

  /** A token that signs one page in, soon, and then is worth nothing: for an address that others may see. */
  tokenForOnePage(): string {
    const token = randomToken();
    this.#once.set(token, performance.now() + GOOD_FOR);
    return token;
  }

  /** What a browser is to keep that showed a token in the address of the page (S3). */
  signIn(token: string, knock: Knock): { readonly secret: string } | Extract<Verdict, { ok: false }> {
    if (this.#attempts.isBarred(knock.from)) return BARRED;
    const until = this.#once.get(token);
    this.#once.delete(token);
    if (until !== undefined && performance.now() < until) return { secret: this.#principals.ownersPage };
    const secret = this.#principals.pageFor(token);
    if (secret !== undefined) return { secret };
    this.#attempts.failed(knock.from);
    return WRONG_TOKEN;
  }
}

const refuse = (status: 401 | 403 | 421 | 429, message: string) => ({ ok: false, status, message }) as const;
const NO_TOKEN = refuse(401, "A token is needed: open the address that banyan serve printed.");
const WRONG_TOKEN = refuse(401, "This token is not of this server: open the address that banyan serve printed.");
const BARRED = refuse(429, "Too many wrong tokens from this address. Try again in a minute.");
const WRONG_HOST = refuse(421, "This server does not answer to that name; allow it with --allow-host.");
const WRONG_ORIGIN = refuse(403, "Pages of other sites may not talk to this server.");
const NO_ORIGIN = refuse(403, "A page must say where it is from.");

function cookieIn(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}

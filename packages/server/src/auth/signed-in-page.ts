import { createHmac } from "node:crypto";
import { provenText } from "@banyan/protocol";
import type { Principal } from "../desk/principal.ts";
import { derivedSecret, randomToken, sameSecret } from "./secret.ts";

/** Seconds for which a page stays signed in. */
export const SIGNED_IN = 30 * 24 * 60 * 60;

/**
 * A browser that showed a token (S20). It keeps two things, and neither is worth anything alone: a cookie, which browsers send
 * to every port of the host, so that any program that listens on one may have it; and a key, which stays in the storage of the
 * page's origin, host and port, and of which only proofs are sent, each good for one connection to one address. Both are made
 * of the token, so that a server keeps nothing, knows the page again after a restart, and forgets all pages with the token.
 */
export class SignedInPage {
  readonly principal: Principal;
  readonly cookie: string;
  readonly #key: string;

  private constructor(principal: Principal, token: string, who: string) {
    this.principal = principal;
    this.cookie = `${who}.${derivedSecret(token, `banyan page cookie ${who}`)}`;
    this.#key = derivedSecret(token, `banyan page key ${who}`);
  }

  /** A page that signs in now. */
  static begin(principal: Principal, token: string, now = Date.now()): SignedInPage {
    return new SignedInPage(principal, token, `${randomToken()}.${Math.floor(now / 1_000) + SIGNED_IN}`);
  }

  /** The page whose cookie it is; nothing when the token did not make it, or its time is over. */
  static of(cookie: string, principal: Principal, token: string, now = Date.now()): SignedInPage | undefined {
    const [, who, until] = /^([\w-]{43}\.(\d{1,12}))\.[\w-]{43}$/.exec(cookie) ?? [];
    if (who === undefined || Number(until) * 1_000 <= now) return undefined;
    const page = new SignedInPage(principal, token, who);
    return sameSecret(page.cookie, cookie) ? page : undefined;
  }

  /** What the page gets once, when it signs in, and sends nowhere where it can sign with it. */
  get key(): string {
    return this.#key;
  }

  /**
   * Whether a proof shows that who sent it has the key: by having signed this challenge for this host, or, where a browser has
   * no cryptography (plain HTTP from another machine, which anybody on the way can read), by the key itself.
   */
  isProof(proof: string, challenge: string, host: string): boolean {
    const signed = createHmac("sha256", Buffer.from(this.#key, "base64url"));
    const expected = signed.update(provenText(challenge, host.toLowerCase())).digest("base64url");
    return sameSecret(proof, expected) || sameSecret(proof, this.#key);
  }
}

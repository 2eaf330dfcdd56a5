import { createHmac } from "node:crypto";
import type { Principal } from "@banyan/desk";
import { proofText } from "@banyan/protocol";
import { derivedSecret, randomToken, sameSecret } from "./secret.ts";

/** Seconds for which a page stays signed in. */
export const SIGNED_IN = 30 * 24 * 60 * 60;

/**
 * A page in a browser that signed in with a token (S20). It has a cookie and a key, and needs both. Browsers send the
 * cookie to every port of the host, so other programs may see it. The key stays in the storage of the page's origin.
 * The page sends only proofs of the key, each valid for one connection to one address. Cookie and key derive from the
 * token. The server therefore stores nothing, accepts pages after a restart, and forgets all pages when the token
 * changes.
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

  static begin(principal: Principal, token: string, now = Date.now()): SignedInPage {
    return new SignedInPage(principal, token, `${randomToken()}.${Math.floor(now / 1_000) + SIGNED_IN}`);
  }

  /** Returns the page of a cookie; `undefined` if the cookie does not derive from the token or has expired. */
  static of(cookie: string, principal: Principal, token: string, now = Date.now()): SignedInPage | undefined {
    const [, who, until] = /^([\w-]{43}\.(\d{1,12}))\.[\w-]{43}$/.exec(cookie) ?? [];
    if (who === undefined || Number(until) * 1_000 <= now) return undefined;
    const page = new SignedInPage(principal, token, who);
    return sameSecret(page.cookie, cookie) ? page : undefined;
  }

  /** The key, which the page gets once, at sign-in. A browser with cryptography never sends it. */
  get key(): string {
    return this.#key;
  }

  /**
   * Checks whether a proof shows that the sender has the key: it must be a signature of this challenge and host.
   * Browsers without cryptography (plain HTTP from another machine, where others can read the traffic) send the key
   * itself.
   */
  isProof(proof: string, challenge: string, host: string): boolean {
    const signed = createHmac("sha256", Buffer.from(this.#key, "base64url"));
    const expected = signed.update(proofText(challenge, host.toLowerCase())).digest("base64url");
    return sameSecret(proof, expected) || sameSecret(proof, this.#key);
  }
}

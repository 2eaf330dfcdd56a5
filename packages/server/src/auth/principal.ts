import { GUEST, OWNER, type Principal } from "@banyan/desk";
import type { KeptShares } from "./kept-shares.ts";
import { derivedSecret, sameSecret } from "./secret.ts";
import { SignedInPage } from "./signed-in-page.ts";

/** The tokens that a server accepts. */
export interface Tokens {
  /** The token of the owner, who has all rights. */
  readonly owner: string;
  /** The token of guests. Guests can only watch. Absent: there are no guests. */
  readonly guest?: string | undefined;
}

/** The name and rights of a client (its principal), and the secret of its token. */
export interface TokenHolder {
  readonly principal: Principal;
  /**
   * The secret for the cookies and keys of pages that signed in with this token: the token, or a secret derived from
   * its digest.
   */
  readonly token: string;
  /** The path of the page to open after the sign-in. Absent: the first page. */
  readonly path?: string;
}

/** All tokens of a server and their rights. */
export class Principals {
  readonly owner: TokenHolder;
  readonly #holders: readonly TokenHolder[];
  readonly #shares: KeptShares | undefined;

  /** `shares`: the links that users created. Their tokens are accepted while the links are valid. */
  constructor({ owner, guest }: Tokens, shares?: KeptShares) {
    this.#shares = shares;
    this.owner = { principal: OWNER, token: owner };
    this.#holders = [this.owner, ...(guest === undefined ? [] : [{ principal: GUEST, token: guest }])];
  }

  byToken(token: string): TokenHolder | undefined {
    // Compare with all tokens, so that the time does not reveal which token matched.
    return this.#holders.filter((holder) => sameSecret(holder.token, token))[0] ?? this.byLink(token);
  }

  /** The holder for the pages of an authorized user. Its secret differs for each user and right. */
  authorized(principal: Principal): TokenHolder {
    const who = JSON.stringify([principal.user ?? null, principal.rights]);
    return { principal, token: derivedSecret(this.owner.token, `banyan user ${who}`) };
  }

  byLink(token: string): TokenHolder | undefined {
    const share = this.#shares?.byToken(token);
    return share && this.#ofLink(share);
  }

  byCookie(cookie: string): SignedInPage | undefined {
    const links = (this.#shares?.good() ?? []).map((share) => this.#ofLink(share));
    for (const { principal, token } of [...this.#holders, ...links]) {
      const page = SignedInPage.of(cookie, principal, token);
      if (page) return page;
    }
    return undefined;
  }

  /** The secret includes the owner's token: a stolen digest alone is not enough to create a page's cookie. */
  #ofLink({ principal, digest }: { readonly principal: Principal; readonly digest: string }): TokenHolder {
    return { principal, token: derivedSecret(this.owner.token, `banyan link ${digest}`) };
  }
}

import { GUEST, OWNER, type Principal } from "../desk/principal.ts";
import type { KeptShares } from "./kept-shares.ts";
import { derivedSecret, sameSecret } from "./secret.ts";
import { SignedInPage } from "./signed-in-page.ts";

/** The tokens of a server. */
export interface Tokens {
  /** Of whoever may do everything. */
  readonly owner: string;
  /** Of those who may only watch; nobody when absent. */
  readonly guest?: string | undefined;
}

/** Who has a token. */
export interface Holder {
  readonly principal: Principal;
  /** What the cookies and keys of their pages are made of: the token, or, where the server does not keep it, what it has of it. */
  readonly token: string;
}

/** The server's record of tokens, and what each allows. */
export class Principals {
  readonly owner: Holder;
  readonly #holders: readonly Holder[];
  readonly #shares: KeptShares | undefined;

  /** `shares`: the links that somebody made, whose tokens count as long as they are good. */
  constructor({ owner, guest }: Tokens, shares?: KeptShares) {
    this.#shares = shares;
    this.owner = { principal: OWNER, token: owner };
    this.#holders = [this.owner, ...(guest === undefined ? [] : [{ principal: GUEST, token: guest }])];
  }

  /** Whose token it is. */
  byToken(token: string): Holder | undefined {
    // All are compared, so that the time does not tell which one it was.
    return this.#holders.filter((holder) => sameSecret(holder.token, token))[0] ?? this.byLink(token);
  }

  /** The same, of the links alone. */
  byLink(token: string): Holder | undefined {
    const share = this.#shares?.byToken(token);
    return share && this.#ofLink(share);
  }

  /** The page whose cookie it is. */
  byCookie(cookie: string): SignedInPage | undefined {
    const links = (this.#shares?.good() ?? []).map((share) => this.#ofLink(share));
    for (const { principal, token } of [...this.#holders, ...links]) {
      const page = SignedInPage.of(cookie, principal, token);
      if (page) return page;
    }
    return undefined;
  }

  /** Whoever reads the digest and has no token of the server's owner makes no page of it. */
  #ofLink({ principal, digest }: { readonly principal: Principal; readonly digest: string }): Holder {
    return { principal, token: derivedSecret(this.owner.token, `banyan link ${digest}`) };
  }
}

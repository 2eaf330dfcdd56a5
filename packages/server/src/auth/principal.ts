import { GUEST, OWNER, type Principal } from "../desk/principal.ts";
import { sameSecret } from "./secret.ts";
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
  readonly token: string;
}

/** The server's record of tokens, and what each allows. */
export class Principals {
  readonly owner: Holder;
  readonly #holders: readonly Holder[];

  constructor({ owner, guest }: Tokens) {
    this.owner = { principal: OWNER, token: owner };
    this.#holders = [this.owner, ...(guest === undefined ? [] : [{ principal: GUEST, token: guest }])];
  }

  /** Whose token it is. */
  byToken(token: string): Holder | undefined {
    // All are compared, so that the time does not tell which one it was.
    return this.#holders.filter((holder) => sameSecret(holder.token, token))[0];
  }

  /** The page whose cookie it is. */
  byCookie(cookie: string): SignedInPage | undefined {
    for (const { principal, token } of this.#holders) {
      const page = SignedInPage.of(cookie, principal, token);
      if (page) return page;
    }
    return undefined;
  }
}

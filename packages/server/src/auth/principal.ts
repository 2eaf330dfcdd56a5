import type { Right } from "../protocol/index.ts";
import { pageSecret, sameSecret } from "./secret.ts";

/** Who a client is to the server: decided by the token that it showed, and by nothing that it says (S4). */
export interface Principal {
  readonly name: "owner" | "guest";
  readonly rights: readonly Right[];
}

const OWNER: Principal = { name: "owner", rights: ["watch", "act"] };
const GUEST: Principal = { name: "guest", rights: ["watch"] };

/** The tokens of a server. */
export interface Tokens {
  /** Of whoever may do everything. */
  readonly owner: string;
  /** Of those who may only watch; nobody when absent. */
  readonly guest?: string | undefined;
}

interface Key {
  readonly principal: Principal;
  readonly token: string;
  readonly page: string;
}

/** The server's record of tokens, and what each allows. */
export class Principals {
  readonly #keys: readonly Key[];
  readonly #owner: Key;

  constructor({ owner, guest }: Tokens) {
    const key = (principal: Principal, token: string): Key => ({ principal, token, page: pageSecret(token) });
    this.#owner = key(OWNER, owner);
    this.#keys = [this.#owner, ...(guest === undefined ? [] : [key(GUEST, guest)])];
  }

  /** What the owner's browser keeps. */
  get ownersPage(): string {
    return this.#owner.page;
  }

  /** Whose token it is. */
  byToken(token: string): Principal | undefined {
    return this.#keys.filter((key) => sameSecret(key.token, token))[0]?.principal;
  }

  /** Whose page it is, by what its browser keeps. */
  byPage(secret: string): Principal | undefined {
    return this.#keys.filter((key) => sameSecret(key.page, secret))[0]?.principal;
  }

  /** What a browser is to keep that showed a token; nothing for a wrong one. */
  pageFor(token: string): string | undefined {
    return this.#keys.filter((key) => sameSecret(key.token, token))[0]?.page;
  }
}

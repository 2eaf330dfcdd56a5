import type { Holder } from "./principal.ts";
import { randomToken } from "./secret.ts";

/** Milliseconds for which one is good. */
const GOOD_FOR = 60_000;

/** How many there are at once; beyond, the oldest is worth nothing. */
const MOST = 100;

/** Tokens that sign one page in, soon, and then are worth nothing: for places that others may see. */
export class OneTimeTokens {
  /** Whose each is, and until when, in milliseconds of the process; the oldest first. */
  readonly #given = new Map<string, { readonly holder: Holder; readonly until: number }>();

  give(holder: Holder): string {
    const token = randomToken();
    this.#given.set(token, { holder, until: performance.now() + GOOD_FOR });
    if (this.#given.size > MOST) this.#given.delete(this.#given.keys().next().value as string);
    return token;
  }

  /** Whose it is, once. */
  take(token: string): Holder | undefined {
    const given = this.#given.get(token);
    this.#given.delete(token);
    return given && performance.now() < given.until ? given.holder : undefined;
  }
}

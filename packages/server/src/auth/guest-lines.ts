/** The reason why a guest gets no further connection, as a sentence. */
export type GuestLimitReason = string;

/** The shares of all connections that guests may hold: together, and from one address. */
const [ALL, OF_ONE] = [1 / 2, 1 / 20];

/**
 * Limits the connections of guests: sockets, and feeds over HTTP. The limits, per address and in total, keep
 * connections free for clients that may act, and for other guests (S4).
 */
export class GuestLines {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(connections: number) {
    this.#most = Math.floor(connections * ALL);
    this.#mostOfOne = Math.ceil(connections * OF_ONE);
  }

  /** Reserves a connection for an address until the returned function is called. Returns the reason if there is none left. */
  take(from: string): (() => void) | GuestLimitReason {
    const held = this.#held.get(from) ?? 0;
    if (held >= this.#mostOfOne)
      return `This server allows at most ${held} guests from your address. Close another page of this server first.`;
    if (this.#all >= this.#most) return `This server allows at most ${this.#all} guests. Try again later.`;
    this.#all++;
    this.#held.set(from, held + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#all--;
      const left = (this.#held.get(from) ?? 1) - 1;
      if (left > 0) this.#held.set(from, left);
      else this.#held.delete(from);
    };
  }
}

/** Why a guest gets no further line, in a sentence. */
export type Full = string;

/** Of all connections, what those of guests may be together, and those from one address. */
const [ALL, OF_ONE] = [1 / 2, 1 / 20];

/**
 * The lines that guests hold: sockets, and feeds over HTTP. They are bounded for each address, and together, so that whoever
 * may act always finds a connection free, and one guest leaves some for the others (S4).
 */
export class GuestLines {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #held = new Map<string, number>();
  #all = 0;

  /** `connections`: how many the server takes at once, of all clients. */
  constructor(connections: number) {
    this.#most = Math.floor(connections * ALL);
    this.#mostOfOne = Math.ceil(connections * OF_ONE);
  }

  /** One line more from an address, until the function that comes back is called; or why not. */
  take(from: string): (() => void) | Full {
    const held = this.#held.get(from) ?? 0;
    if (held >= this.#mostOfOne)
      return `There are ${held} guests from your address, the most that this server allows. Close one of them.`;
    if (this.#all >= this.#most)
      return `There are ${this.#all} guests, the most that this server allows. Try again later.`;
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

/** Wrong tokens that one address may show within the time. */
const MOST = 20;
/** Milliseconds. */
const WITHIN = 60_000;
/** Addresses that are remembered; beyond, those that tried longest ago are forgotten. */
const ADDRESSES = 1_000;

/** Counts wrong tokens, so that nobody can try many. Whoever shows a right one is not asked about it. */
export class Attempts {
  readonly #failed = new Map<string, { count: number; since: number }>();

  /** Whether an address has shown too many of them. */
  isBarred(address: string, now = Date.now()): boolean {
    const failed = this.#failed.get(address);
    return failed !== undefined && now - failed.since < WITHIN && failed.count >= MOST;
  }

  failed(address: string, now = Date.now()): void {
    const known = this.#failed.get(address);
    const current = known && now - known.since < WITHIN ? known : { count: 0, since: now };
    this.#failed.delete(address);
    this.#failed.set(address, { count: current.count + 1, since: current.since });
    if (this.#failed.size > ADDRESSES) this.#failed.delete(this.#failed.keys().next().value as string);
  }
}

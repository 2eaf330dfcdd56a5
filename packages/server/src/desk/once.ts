/** Things that are remembered; of more, the oldest are forgotten. */
const REMEMBERED = 10_000;

interface Done<Outcome> {
  readonly what: string;
  readonly outcome: Promise<Outcome>;
}

/** Carries out what has an id once, however often it is asked for (B59). What failed did nothing, and may be tried again. */
export class Once<Outcome> {
  readonly #done = new Map<string, Done<Outcome>>();
  readonly #failed: (outcome: Outcome) => boolean;

  constructor(failed: (outcome: Outcome) => boolean) {
    this.#failed = failed;
  }

  /**
   * The outcome of the work, or of the same (`what`) that was begun under this id before; nothing when that was something
   * else. Work that rejects has failed.
   */
  do(id: string, what: string, work: () => Promise<Outcome>): Promise<Outcome> | undefined {
    const known = this.#done.get(id);
    if (known) return known.what === what ? known.outcome : undefined;
    const outcome = work();
    this.#done.set(id, { what, outcome });
    if (this.#done.size > REMEMBERED) this.#done.delete(this.#done.keys().next().value as string);
    const forget = () => this.#done.delete(id);
    outcome.then((came) => this.#failed(came) && forget(), forget);
    return outcome;
  }
}

/** Commands that are remembered; of more, the oldest are forgotten. */
const REMEMBERED = 10_000;

/** Carries out what has an id once, however often it is asked for (B59). What failed did nothing, and may be tried again. */
export class Once<Outcome> {
  readonly #outcomes = new Map<string, Promise<Outcome>>();
  readonly #failed: (outcome: Outcome) => boolean;

  constructor(failed: (outcome: Outcome) => boolean) {
    this.#failed = failed;
  }

  /** The outcome of the work, or of the work that was begun under this id before. The work must not reject. */
  do(id: string, work: () => Promise<Outcome>): Promise<Outcome> {
    const known = this.#outcomes.get(id);
    if (known) return known;
    const outcome = work();
    this.#outcomes.set(id, outcome);
    if (this.#outcomes.size > REMEMBERED) this.#outcomes.delete(this.#outcomes.keys().next().value as string);
    void outcome.then((came) => {
      if (this.#failed(came)) this.#outcomes.delete(id);
    });
    return outcome;
  }
}

import { Interruption } from "../session/error.ts";

/**
 * What the calls of a turn began: sub-agents, questions to people. It ends with its call, and none outlives the turn.
 */
export class Begun {
  readonly #over = new AbortController();
  readonly #work = new Set<Promise<unknown>>();

  /** Whether the turn has ended, so that nothing can begin any more. */
  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Throws when the turn has ended. */
  check(): void {
    if (this.isOver) throw new Error("Too late: the turn of this call has ended.");
  }

  /** Begins what must end when one of the signals aborts, or the turn ends. Rejects when that has happened already. */
  async begin<T>(signals: readonly AbortSignal[], work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.check();
    const begun = work(AbortSignal.any([...signals, this.#over.signal]));
    this.#work.add(begun);
    try {
      return await begun;
    } finally {
      this.#work.delete(begun);
    }
  }

  /** Ends all that is still under way, and waits for it. */
  async end(): Promise<void> {
    this.#over.abort(new Interruption("the turn that began it has ended"));
    await Promise.allSettled(this.#work);
  }
}

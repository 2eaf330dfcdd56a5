import { Interruption } from "../session/error.ts";

/**
 * What the calls of a turn began: sub-agents, questions to people. It ends with its call, and none outlives the turn.
 */
export class Begun {
  /** Made with the first work: most turns begin nothing. */
  #ending: AbortController | undefined;
  readonly #work = new Set<Promise<unknown>>();
  #isOver = false;

  /** Whether the turn has ended, so that nothing can begin any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Throws when the turn has ended. */
  check(): void {
    if (this.isOver) throw new Error("Too late: the turn of this call has ended.");
  }

  /** Begins what must end when one of the signals aborts, or the turn ends. Rejects when that has happened already. */
  async begin<T>(signals: readonly AbortSignal[], work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.check();
    this.#ending ??= new AbortController();
    const begun = work(AbortSignal.any([...signals, this.#ending.signal]));
    this.#work.add(begun);
    try {
      return await begun;
    } finally {
      this.#work.delete(begun);
    }
  }

  /** Ends all that is still under way, and waits for it. */
  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#ending === undefined) return;
    this.#ending.abort(new Interruption("the turn that began it has ended"));
    await Promise.allSettled(this.#work);
  }
}

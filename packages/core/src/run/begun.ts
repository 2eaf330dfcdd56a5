import { Interruption } from "../session/error.ts";

/** Sub-agents and questions that calls of a turn began. They end with their call, and at the latest with the turn. */
export class TurnWork {
  /** Created with the first work, because most turns begin none. */
  #ending: AbortController | undefined;
  readonly #work = new Set<Promise<unknown>>();
  #isOver = false;

  /** True once the turn has ended: no work can begin any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Throws when the turn has ended. */
  check(): void {
    if (this.isOver) throw new Error("Too late: the turn of this call has ended.");
  }

  /** Begins work that ends when one of the signals aborts or the turn ends. Rejects if one of these has happened already. */
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

  /** Ends all running work, and waits for its end. */
  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#ending === undefined) return;
    this.#ending.abort(new Interruption("the turn that began it has ended"));
    await Promise.allSettled(this.#work);
  }
}

import { Interruption } from "../session/error.ts";

/** The sub-agents and questions of a turn's calls. Each ends with its call or with the turn. */
export class TurnWork {
  /** Created on demand, because most turns begin no work. */
  #ending: AbortController | undefined;
  readonly #work = new Set<Promise<unknown>>();
  #isOver = false;

  /** Once the turn has ended, no work can begin. */
  get isOver(): boolean {
    return this.#isOver;
  }

  check(): void {
    if (this.isOver) throw new Error("Too late: the turn of this call has ended.");
  }

  /** Begins work until a signal aborts or the turn ends. Rejects if one of these has happened already. */
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

  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#ending === undefined) return;
    this.#ending.abort(new Interruption("the turn that began it has ended"));
    await Promise.allSettled(this.#work);
  }
}

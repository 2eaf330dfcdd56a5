/** What is said of what did not begin. */
export const NOT_SENT = "Stopped before it began. Nothing was sent.";

/**
 * What a person entered, until its run can be interrupted: while what it names is read, or tools start, nothing runs yet.
 */
export class Entered {
  #waiting: AbortController | undefined;

  /** Aborts when what was entered last is not to begin any more; nothing when nothing is on its way. */
  get signal(): AbortSignal | undefined {
    return this.#waiting?.signal;
  }

  /** What is on its way does not begin. */
  interrupt(): void {
    this.#waiting?.abort();
  }

  /** What the work resolves with, unless that is something to begin and a person interrupted it. Rejects as the work does. */
  async unlessInterrupted<Begun>(work: () => Promise<Begun | undefined>): Promise<Begun | "interrupted" | undefined> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    try {
      const begun = await work();
      return begun !== undefined && waiting.signal.aborted ? "interrupted" : begun;
    } catch (error) {
      if (waiting.signal.aborted) return "interrupted";
      throw error;
    } finally {
      this.#waiting = undefined;
    }
  }
}

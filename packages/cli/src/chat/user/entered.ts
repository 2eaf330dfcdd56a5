/** Notice for a line that was stopped before its run began. */
export const NOT_SENT = "Stopped before it began. Nothing was sent.";

/**
 * The user's last line until its run can be interrupted: files may be read, or tools started, before a run exists.
 */
export class PendingEntry {
  #waiting: AbortController | undefined;

  /** Aborts when the last line must not begin a run; undefined if no line is pending. */
  get signal(): AbortSignal | undefined {
    return this.#waiting?.signal;
  }

  /** Keeps the pending line from beginning. */
  interrupt(): void {
    this.#waiting?.abort();
  }

  /** Resolves with the result of `work`, or "interrupted" if the user interrupted a beginning. Rejects like `work`. */
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

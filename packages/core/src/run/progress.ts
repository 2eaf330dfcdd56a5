import type { Json } from "../conversation/part.ts";

/** The result of a finished task. */
export interface TaskResult {
  readonly result: Json;
  /** A summary of the task for memory. */
  readonly summary: string | undefined;
}

/** A summary that a call wrote for all messages down to `covers`. */
export interface PlannedSummary {
  readonly text: string;
  readonly covers: string;
}

/** Progress of a turn that is not in the log. Only this object changes; the run that holds it does not. */
export class TurnProgress {
  #finished: TaskResult | undefined;
  #planned: PlannedSummary | undefined;
  #failedSummaries = 0;
  #failedCallbacks: Set<string> | undefined;
  /**
   * Id of the summary message after which old results free enough room, so that no background summary begins; empty if
   * the branch has no summary. Absent: a summary may be needed.
   */
  shortensBehind: string | undefined;

  /** Set when the task is done: the turn ends with this step. */
  get finished(): TaskResult | undefined {
    return this.#finished;
  }

  /** Finishes the task. If several calls of one step do so, the last one counts. */
  finish(finished: TaskResult): void {
    this.#finished = finished;
  }

  /** Keeps a summary until the step is over; replaces an earlier one. */
  planSummary(planned: PlannedSummary): void {
    this.#planned = planned;
  }

  /** Hands over the planned summary, and forgets it. */
  takeSummary(): PlannedSummary | undefined {
    const planned = this.#planned;
    this.#planned = undefined;
    return planned;
  }

  /** Number of failed model summaries in this turn. */
  get failedSummaries(): number {
    return this.#failedSummaries;
  }

  summaryFailed(): void {
    this.#failedSummaries++;
  }

  /** Returns true if this callback fails for the first time in the turn. */
  callbackFailed(name: string): boolean {
    this.#failedCallbacks ??= new Set();
    if (this.#failedCallbacks.has(name)) return false;
    this.#failedCallbacks.add(name);
    return true;
  }
}

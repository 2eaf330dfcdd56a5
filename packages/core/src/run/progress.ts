import type { Json } from "../conversation/part.ts";

export interface TaskResult {
  readonly result: Json;
  /** A summary of the task for memory. */
  readonly summary: string | undefined;
}

/** A summary that the model wrote in a call, for all messages up to `covers`. */
export interface PlannedSummary {
  readonly text: string;
  readonly covers: string;
}

/** Facts about a running turn that are not in the log. */
export class TurnProgress {
  /** Set when the task is done: the turn ends with this step. The last call of a step counts. */
  finished: TaskResult | undefined;
  #planned: PlannedSummary | undefined;
  #failedSummaries = 0;
  #failedCallbacks: Set<string> | undefined;
  /** The summary after which old results free enough, so that no background summary begins; empty for no summary. */
  shortensBehind: string | undefined;

  /** Keeps a summary until the step is over; replaces an earlier one. */
  planSummary(planned: PlannedSummary): void {
    this.#planned = planned;
  }

  takeSummary(): PlannedSummary | undefined {
    const planned = this.#planned;
    this.#planned = undefined;
    return planned;
  }

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

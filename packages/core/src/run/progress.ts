import type { Json } from "../conversation/message.ts";

/** What a task was finished with. */
export interface Finished {
  readonly result: Json;
  /** What is worth remembering of it, in words. */
  readonly summary: string | undefined;
}

/** A summary that a call has written: it is to stand for what was said down to the message `covers`. */
export interface PlannedSummary {
  readonly text: string;
  readonly covers: string;
}

/** What has come of a turn so far, apart from what is in the log. The run that holds it never changes itself. */
export class Progress {
  #finished: Finished | undefined;
  #planned: PlannedSummary | undefined;
  #failedSummaries = 0;
  #failedCallbacks: Set<string> | undefined;
  /**
   * The message of the role summary behind which old results are enough, so that no summary is begun in the background; empty
   * where there is no such message, and absent where a summary may be needed.
   */
  shortensBehind: string | undefined;

  /** Set once the task is done: the turn ends with this step. */
  get finished(): Finished | undefined {
    return this.#finished;
  }

  /** The task is done. Of several calls that say so in one step, the last one counts. */
  finish(finished: Finished): void {
    this.#finished = finished;
  }

  /** Keeps a summary until the step is over; one that was kept before is given up. */
  planSummary(planned: PlannedSummary): void {
    this.#planned = planned;
  }

  /** The summary that was kept, which from now on is the caller's. */
  takeSummary(): PlannedSummary | undefined {
    const planned = this.#planned;
    this.#planned = undefined;
    return planned;
  }

  /** Summaries by the model that failed in this turn. */
  get failedSummaries(): number {
    return this.#failedSummaries;
  }

  summaryFailed(): void {
    this.#failedSummaries++;
  }

  /** Whether this is the first time in the turn that the callback of this name fails. */
  callbackFailed(name: string): boolean {
    this.#failedCallbacks ??= new Set();
    if (this.#failedCallbacks.has(name)) return false;
    this.#failedCallbacks.add(name);
    return true;
  }
}

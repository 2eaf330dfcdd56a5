import { createId } from "../conversation/id.ts";
import type { ConversationState } from "../conversation/state.ts";
import { Interruption, type SessionError } from "./error.ts";

/** A run as its session holds it. */
export interface RunHandle {
  readonly id: string;
  /** The message that the run goes on from. */
  readonly leaf: string | null;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  interrupt(reason: Interruption): void;
  /** Lets the next one onto the branch, which ends at `leaf` now. To be called once. */
  end(leaf: string | null): void;
}

interface LiveRun {
  leaf: string | null;
  readonly controller: AbortController;
  readonly done: PromiseWithResolvers<void>;
}

/** The live runs of a session, and those that wait for a branch: on each branch one run at a time. */
export class Runs {
  readonly #state: ConversationState;
  readonly #live = new Map<string, LiveRun>();
  /** Those that wait for a branch, each with the way to turn it away. */
  readonly #queue = new Set<(reason: Error) => void>();
  #closed: SessionError | undefined;

  constructor(state: ConversationState) {
    this.#state = state;
  }

  isLive(run: string): boolean {
    return this.#live.has(run);
  }

  /** Interrupts one run, or all and those that wait; answers how many. */
  interrupt(reason: Error, only?: string): number {
    const live = only === undefined ? [...this.#live.values()] : [this.#live.get(only)];
    const hit = live.filter((run) => run !== undefined && !run.controller.signal.aborted);
    for (const run of hit) run?.controller.abort(reason);
    if (only !== undefined) return hit.length;
    const waiting = [...this.#queue];
    for (const turnAway of waiting) turnAway(reason);
    return hit.length + waiting.length;
  }

  /** No run begins any more; those that wait are turned away, those that are live are interrupted and waited for. */
  async close(closed: SessionError, reason: Error): Promise<void> {
    this.#closed ??= closed;
    for (const turnAway of this.#queue) turnAway(closed);
    for (const { controller } of this.#live.values()) controller.abort(reason);
    await Promise.all([...this.#live.values()].map(({ done }) => done.promise));
  }

  async begin(leaf: string | null, signal?: AbortSignal, id = createId()): Promise<RunHandle> {
    let at = leaf;
    for (let other = this.#runAt(at); other; other = this.#runAt(at)) {
      await this.#waitFor(other.done.promise, signal);
      at = other.leaf;
    }
    if (this.#closed) throw this.#closed;
    if (signal?.aborted) throw new Interruption("interrupted before it began");
    const run: LiveRun = { leaf: at, controller: new AbortController(), done: Promise.withResolvers() };
    this.#live.set(id, run);
    return {
      id,
      leaf: at,
      signal: run.controller.signal,
      interrupt: (reason) => run.controller.abort(reason),
      end: (ended) => {
        run.leaf = ended;
        this.#live.delete(id);
        run.done.resolve();
      },
    };
  }

  /** Waits in the queue for a branch. */
  async #waitFor(done: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const given = Promise.withResolvers<never>();
    const abort = () => given.reject(new Interruption("interrupted before it began"));
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    this.#queue.add(given.reject);
    try {
      await Promise.race([done, given.promise]);
    } finally {
      this.#queue.delete(given.reject);
      signal?.removeEventListener("abort", abort);
    }
  }

  #runAt(leaf: string | null): LiveRun | undefined {
    for (const [id, run] of this.#live) {
      const started = this.#state.runs.get(id);
      if ((started ? started.leaf : run.leaf) === leaf) return run;
    }
    return undefined;
  }
}

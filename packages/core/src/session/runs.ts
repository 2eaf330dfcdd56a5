import { createId } from "../conversation/id.ts";
import { isSettled } from "../conversation/message.ts";
import type { ConversationState } from "../conversation/state.ts";
import { branchBusy, Interruption, noMessage, SESSION_CLOSED, type SessionError } from "./error.ts";
import type { HeldBranch } from "./options.ts";

/** A run as its session holds it. */
export interface RunHandle {
  readonly id: string;
  /** The message that the run goes on from. */
  readonly leaf: string | null;
  /** Aborts when the run is interrupted. */
  readonly signal: AbortSignal;
  /** Aborts when it is interrupted once more while it ends. */
  readonly hurry: AbortSignal;
  interrupt(reason: Interruption): void;
  /** To be called when its start is in the log: whoever waits for that looks again. */
  started(): void;
  /**
   * Before it starts: goes to `leaf` instead, once nobody stands there. Rejects with `Interruption` when it is interrupted
   * meanwhile.
   */
  moveTo(leaf: string | null): Promise<void>;
  /** Lets the next one onto the branch, which ends at `leaf` now. To be called once, unless `goOn` was. */
  end(leaf: string | null): void;
  /** Ends the run and begins another one at `leaf`, before whoever waits for the branch. */
  goOn(leaf: string | null): RunHandle;
}

/** The path that a run wrote along, and whatever it made of it. */
export interface KnownPath {
  /** The last message on it. */
  readonly leaf: string | null;
}

/** How a run begins. */
export interface BeginOptions {
  /** Ends the wait for the branch. */
  readonly signal?: AbortSignal | undefined;
  /** Of the run; a new one when absent. */
  readonly id?: string | undefined;
  /** It writes a message of its own below the place where it begins. */
  readonly says?: boolean;
  /** Somebody named that place: what they say there stands beside what another run says there. */
  readonly named?: boolean;
  /**
   * It adds no message of its own. When it begins at a response whose calls still run, it goes on when their run has ended,
   * even if that run's branch has grown behind the response meanwhile: the outcome of an edit stands there before the calls
   * run.
   */
  readonly goesOn?: boolean;
  /**
   * Whether it waits while another turn works at that place; default true. When false, it rejects with `SessionError`
   * (`busy`) as soon as that turn is in the log. It still waits for a turn that is about to end or about to start.
   */
  readonly waits?: boolean;
  /** It begins a branch of its own, so it waits for no other run. It waits while `session.hold` keeps any branch. */
  readonly beside?: boolean;
}

/** The end of a branch, and whoever has it. `says`: until its run has started, it is about to leave `leaf` to others. */
type Place = ReturnType<typeof placeAt>;

/** `started` resolves when the start of its run is in the log, `free` when the place is nobody's. */
function placeAt(leaf: string | null, says: boolean) {
  return { leaf, says, free: Promise.withResolvers<void>(), started: Promise.withResolvers<void>() };
}

class LiveRun {
  readonly place: Place;
  readonly interrupted = new AbortController();
  readonly hurried = new AbortController();

  constructor(place: Place) {
    this.place = place;
  }

  get isInterrupted(): boolean {
    return this.interrupted.signal.aborted;
  }

  /** The second time, it is to hurry. */
  interrupt(reason: Error): void {
    const controller = this.isInterrupted ? this.hurried : this.interrupted;
    controller.abort(reason);
  }
}

/** The live runs of a session, and those that wait for a branch: on each branch one run at a time. */
export class Runs {
  readonly #state: ConversationState;
  readonly #live = new Map<string, LiveRun>();
  /** Ends of branches that nobody is to begin at for now, though no run has them. */
  readonly #held = new Set<Place>();
  /** Those that wait for a branch, each with the way to turn it away. */
  readonly #queue = new Set<(reason: Error) => void>();
  #closed: SessionError | undefined;

  constructor(state: ConversationState) {
    this.#state = state;
  }

  isLive(run: string): boolean {
    return this.#live.has(run);
  }

  /**
   * Interrupts one run, or all and those that wait; returns how many. Those that were interrupted before are to hurry.
   */
  interrupt(reason: Error, only?: string): number {
    const live = [...this.#live].flatMap(([id, run]) => (only === undefined || id === only ? [run] : []));
    // Looked at before any of them ends: one that goes down with another is not interrupted twice.
    const before = live.filter((run) => run.isInterrupted);
    for (const run of live) if (!run.isInterrupted) run.interrupt(reason);
    for (const run of before) run.interrupt(reason);
    const hit = live.length - before.length;
    if (only !== undefined) return hit;
    const waiting = [...this.#queue];
    for (const turnAway of waiting) turnAway(reason);
    return hit + waiting.length;
  }

  /** No run begins any more; those that wait are turned away, and those that are live interrupted. */
  stop(closed: SessionError, reason: Error): void {
    this.#closed ??= closed;
    for (const turnAway of this.#queue) turnAway(closed);
    for (const { interrupted } of this.#live.values()) interrupted.abort(reason);
  }

  /** Stops, and waits for those that are live and for whoever holds a branch. */
  async close(closed: SessionError, reason: Error): Promise<void> {
    this.stop(closed, reason);
    const taken = [...[...this.#live.values()].map(({ place }) => place), ...this.#held];
    await Promise.all(taken.map(({ free }) => free.promise));
  }

  /** As `Session.hold`. */
  async holdWhile<Result>(leaf: string | null, work: (held: HeldBranch) => Result | Promise<Result>): Promise<Result> {
    const isThere = (message: string) => {
      if (!this.#state.messages.has(message)) throw noMessage(message);
    };
    if (leaf !== null) isThere(leaf);
    const held = this.#hold(leaf);
    if (!held) throw branchBusy(leaf);
    try {
      return await work({
        moveTo(message) {
          isThere(message);
          held.moveTo(message);
        },
      });
    } finally {
      held.release();
    }
  }

  /**
   * Takes the end of a branch without a run, in this tick, so that no run can begin there; returns nothing while somebody
   * has it.
   */
  #hold(leaf: string | null): { moveTo(leaf: string): void; release(): void } | undefined {
    if (this.#closed) throw this.#closed;
    if (this.#placeAt(leaf, false)) return undefined;
    const place = placeAt(leaf, false);
    this.#held.add(place);
    return {
      moveTo: (leaf) => {
        place.leaf = leaf;
      },
      release: () => {
        this.#held.delete(place);
        place.free.resolve();
      },
    };
  }

  async begin(leaf: string | null, options: BeginOptions = {}): Promise<RunHandle> {
    const { signal, id = createId(), says = false, named = false } = options;
    const { goesOn = false, waits = true, beside = false } = options;
    let at = leaf;
    const onBranch = () => this.#placeAt(at, says && named) ?? (goesOn ? this.#workerOn(at) : undefined);
    const taker = () => (beside ? this.#held.values().next().value : onBranch());
    for (let taken = taker(); taken; taken = taker()) {
      const { free, started } = taken;
      if (!waits && !this.#startedAt(taken)) await this.#waitFor(Promise.race([free.promise, started.promise]), signal);
      const isInTheWay = !waits && this.#startedAt(taken)?.isInterrupted === false;
      if (isInTheWay) throw branchBusy(at);
      await this.#waitFor(free.promise, signal);
      if (!beside) at = taken.leaf;
    }
    // From the last look at the branch to `#take` nothing is awaited. Two windows say something when a turn ends: both
    // wait for the same promise, and both go on in its tick. The first finds the branch free and takes it; were there an
    // `await` in between, the second would find it free too. As it is, the second looks again and waits for the first.
    if (this.#closed) throw this.#closed;
    if (signal?.aborted) throw new Interruption("interrupted before it began");
    return this.#take(placeAt(at, says), id);
  }

  #take(place: Place, id: string): RunHandle {
    const live = new LiveRun(place);
    this.#live.set(id, live);
    const leave = (leaf: string | null) => {
      place.leaf = leaf;
      this.#live.delete(id);
    };
    return {
      id,
      leaf: place.leaf,
      signal: live.interrupted.signal,
      hurry: live.hurried.signal,
      interrupt: (reason) => live.interrupt(reason),
      started: () => place.started.resolve(),
      moveTo: async (leaf) => {
        const taker = () => this.#placeAt(leaf, place.says);
        for (let taken = taker(); taken && taken !== place; taken = taker()) {
          await this.#waitFor(taken.free.promise, live.interrupted.signal);
        }
        place.leaf = leaf;
      },
      end: (leaf) => {
        leave(leaf);
        place.free.resolve();
      },
      goOn: (leaf) => {
        leave(leaf);
        place.started = Promise.withResolvers();
        const next = this.#take(place, createId());
        // A session that closes waits for the branch; what begins on it now must end at once.
        if (this.#closed) next.interrupt(SESSION_CLOSED);
        return next;
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

  /** Who has the end of a branch. `beside`: not those who are about to leave it for a branch of their own. */
  #placeAt(leaf: string | null, beside: boolean): Place | undefined {
    for (const place of this.#held) if (place.leaf === leaf) return place;
    for (const [id, { place }] of this.#live) {
      const started = this.#state.runs.get(id);
      if (!started && place.says && beside) continue;
      if ((started ? started.leaf : place.leaf) === leaf) return place;
    }
    return undefined;
  }

  /** The run that has a place, if its start is in the log. */
  #startedAt(place: Place): LiveRun | undefined {
    for (const [id, live] of this.#live) if (live.place === place && this.#state.runs.has(id)) return live;
    return undefined;
  }

  /** Who is at work on the calls of a response. */
  #workerOn(leaf: string | null): Place | undefined {
    const message = leaf === null ? undefined : this.#state.messages.get(leaf);
    if (message?.role !== "assistant" || isSettled(message)) return undefined;
    return this.#live.get(message.run)?.place;
  }
}

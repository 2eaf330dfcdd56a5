import { createId } from "../conversation/id.ts";
import { type AssistantMessage, isSettled } from "../conversation/message.ts";
import { checkArguments } from "../conversation/option-names.ts";
import type { ConversationState } from "../conversation/state.ts";
import { SmallMap } from "../past/small-map.ts";
import { branchBusy, Interruption, noMessage, SESSION_CLOSED, type SessionError } from "./error.ts";
import type { HeldBranch } from "./options.ts";

/** The methods of a session to control one run. */
export interface RunHandle {
  readonly id: string;
  /** The message that the run continues from. */
  readonly leaf: string | null;
  readonly signal: AbortSignal;
  /** Returns the signal that aborts on a second interrupt, while the run ends. */
  hurry(): AbortSignal;
  interrupt(reason: Interruption): void;
  /** Call when the start of the run is in the log: turns that wait for it check the branch again. */
  started(): void;
  /** Before the run starts: moves to `leaf`, once it is free. Rejects with `Interruption`. */
  moveTo(leaf: string | null): Promise<void>;
  /** Ends the run at `leaf` and lets the next run onto the branch. Call once, unless `goOn` was called. */
  end(leaf: string | null): void;
  /** Ends the run and begins another run at `leaf`, ahead of all that wait for the branch. */
  goOn(leaf: string | null): RunHandle;
}

/** The path of a finished run, and the data that the run derived from the path. */
export interface WrittenPath {
  readonly leaf: string | null;
}

export interface BeginOptions {
  /** Ends the wait for the branch. */
  readonly signal?: AbortSignal | undefined;
  readonly id?: string | undefined;
  /** The run first writes a message of its own below `leaf`. */
  readonly says?: boolean;
  /** The caller picked this message, so its reply becomes a sibling branch and does not wait for the live run. */
  readonly named?: boolean;
  /** The run adds no message of its own. If the calls of a response still run, it waits until their run has ended. */
  readonly continues?: boolean;
  /** True (default) to wait for a turn that works on the branch. If false, rejects with `SessionError` (`busy`). */
  readonly waits?: boolean;
  /** The run begins its own branch. It waits only while `session.hold` keeps any branch. */
  readonly beside?: boolean;
}

/** The end of a branch that a run or a holder has taken. */
class BranchTip {
  leaf: string | null;
  /** The run adds a message of its own. As soon as it has started, other runs can use `leaf`. */
  readonly says: boolean;
  readonly free = new RunGate();
  /** Opens when the start of the run is in the log. */
  started = new RunGate();

  constructor(leaf: string | null, says: boolean) {
    this.leaf = leaf;
    this.says = says;
  }
}

/** A wait that ends once. The promise is created when the first caller waits. */
class RunGate {
  #isOpen = false;
  #opened: PromiseWithResolvers<void> | undefined;

  get opened(): Promise<void> {
    this.#opened ??= Promise.withResolvers();
    if (this.#isOpen) this.#opened.resolve();
    return this.#opened.promise;
  }

  open(): void {
    this.#isOpen = true;
    this.#opened?.resolve();
  }
}

class RunControl {
  readonly id: string;
  readonly place: BranchTip;
  readonly interrupted = new AbortController();
  #hurried: AbortController | undefined;

  constructor(id: string, place: BranchTip) {
    this.id = id;
    this.place = place;
  }

  get isInterrupted(): boolean {
    return this.interrupted.signal.aborted;
  }

  /** Created on first use: most runs call no tool and are interrupted at most once. */
  get hurried(): AbortController {
    this.#hurried ??= new AbortController();
    return this.#hurried;
  }

  interrupt(reason: Error): void {
    const controller = this.isInterrupted ? this.hurried : this.interrupted;
    controller.abort(reason);
  }
}

/** The live runs of a session, and the queue for each branch: a branch has one run at a time. */
export class LiveRuns {
  readonly #state: ConversationState;
  readonly #live = new SmallMap<RunControl>();
  /** Ends of branches without a run that `session.hold` keeps. */
  readonly #held = new Set<BranchTip>();
  /** Waiting runs, as functions that reject their waits. */
  readonly #queue = new Set<(reason: Error) => void>();
  #closed: SessionError | undefined;
  #path: WrittenPath | undefined;
  /** Responses with open calls. A run of this session continues them until the calls have results. */
  readonly #settling = new WeakMap<AssistantMessage, Promise<void>>();

  constructor(state: ConversationState) {
    this.#state = state;
  }

  /** True while the run works in this session. Only the run itself ends its calls and its turn. */
  isLive(run: string): boolean {
    return this.#live.has(run);
  }

  /** Returns the path that the last run kept, if it ends at `leaf`. Forgets the path. */
  takePath(leaf: string | null): WrittenPath | undefined {
    const path = this.#path;
    this.#path = undefined;
    return path?.leaf === leaf ? path : undefined;
  }

  keepPath(path: WrittenPath): void {
    this.#path = path;
  }

  /** Settles the open calls of a response by `settle`, once per session: later callers wait for the first. */
  settling(
    response: AssistantMessage,
    settle: () => Promise<void>,
  ): { readonly isFirst: boolean; readonly done: Promise<void> } {
    const known = this.#settling.get(response);
    if (known) return { isFirst: false, done: known };
    const done = settle();
    this.#settling.set(response, done);
    return { isFirst: true, done };
  }

  /** Interrupts one run, or all. Returns their number. Runs that were interrupted before are hurried. */
  interrupt(reason: Error, only?: string): number {
    const live = this.#live.values().filter(({ id }) => only === undefined || id === only);
    // Collected before any run ends: a run that ends together with another must not be interrupted twice.
    const before = live.filter((run) => run.isInterrupted);
    for (const run of live) if (!run.isInterrupted) run.interrupt(reason);
    for (const run of before) run.interrupt(reason);
    const hit = live.length - before.length;
    if (only !== undefined) return hit;
    const waiting = [...this.#queue];
    for (const turnAway of waiting) turnAway(reason);
    return hit + waiting.length;
  }

  /** Lets no run begin any more: rejects waiting runs and interrupts live runs. */
  stop(closed: SessionError, reason: Error): void {
    this.#closed ??= closed;
    for (const turnAway of this.#queue) turnAway(closed);
    for (const { interrupted } of this.#live.values()) interrupted.abort(reason);
  }

  /** Stops, then waits for the live runs and for the holders of branches. */
  async close(closed: SessionError, reason: Error): Promise<void> {
    this.stop(closed, reason);
    const taken = [...this.#live.values().map(({ place }) => place), ...this.#held];
    await Promise.all(taken.map(({ free }) => free.opened));
  }

  async holdWhile<Result>(leaf: string | null, work: (held: HeldBranch) => Result | Promise<Result>): Promise<Result> {
    checkArguments("session.hold", { work }, { work: "function" });
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

  /** Takes the end of a branch in this tick, so that no run can begin there. Undefined if the branch has an owner. */
  #hold(leaf: string | null): { moveTo(leaf: string): void; release(): void } | undefined {
    if (this.#closed) throw this.#closed;
    if (this.#placeAt(leaf, false)) return undefined;
    const place = new BranchTip(leaf, false);
    this.#held.add(place);
    return {
      moveTo: (leaf) => {
        place.leaf = leaf;
      },
      release: () => {
        this.#held.delete(place);
        place.free.open();
      },
    };
  }

  /**
   * Begins a run at the end of the branch of `leaf`, after the run that is live there: runs of one branch never
   * interleave. Rejects with `Interruption`, and with `SessionError` when the session closes.
   */
  async begin(leaf: string | null, options: BeginOptions = {}): Promise<RunHandle> {
    const { signal, id = createId(), says = false, named = false } = options;
    const { continues = false, waits = true, beside = false } = options;
    let at = leaf;
    const onBranch = () => this.#placeAt(at, says && named) ?? (continues ? this.#workerOn(at) : undefined);
    const taker = () => (beside ? this.#held.values().next().value : onBranch());
    for (let taken = taker(); taken; taken = taker()) {
      const { free, started } = taken;
      if (!waits && !this.#startedAt(taken)) await this.#waitFor(Promise.race([free.opened, started.opened]), signal);
      const isInTheWay = !waits && this.#startedAt(taken)?.isInterrupted === false;
      if (isInTheWay) throw branchBusy(at);
      await this.#waitFor(free.opened, signal);
      if (!beside) at = taken.leaf;
    }
    // There must be no `await` between the last check of the branch and `#take`: two waiting turns may wake up in the
    // same tick, and both would find the branch free.
    if (this.#closed) throw this.#closed;
    if (signal?.aborted) throw new Interruption("interrupted before it began");
    return this.#take(new BranchTip(at, says), id);
  }

  #take(place: BranchTip, id: string): RunHandle {
    const live = new RunControl(id, place);
    this.#live.set(id, live);
    const leave = (leaf: string | null) => {
      place.leaf = leaf;
      this.#live.delete(id);
    };
    return {
      id,
      leaf: place.leaf,
      signal: live.interrupted.signal,
      hurry: () => live.hurried.signal,
      interrupt: (reason) => live.interrupt(reason),
      started: () => place.started.open(),
      moveTo: async (leaf) => {
        const taker = () => this.#placeAt(leaf, place.says);
        for (let taken = taker(); taken && taken !== place; taken = taker()) {
          await this.#waitFor(taken.free.opened, live.interrupted.signal);
        }
        place.leaf = leaf;
      },
      end: (leaf) => {
        leave(leaf);
        place.free.open();
      },
      goOn: (leaf) => {
        leave(leaf);
        place.started = new RunGate();
        const next = this.#take(place, createId());
        // The closing session waits for the branch, so a run that begins now must end at once.
        if (this.#closed) next.interrupt(SESSION_CLOSED);
        return next;
      },
    };
  }

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

  /** Returns the owner of the end of a branch. `beside`: skips runs that will move to a branch of their own. */
  #placeAt(leaf: string | null, beside: boolean): BranchTip | undefined {
    for (const place of this.#held) if (place.leaf === leaf) return place;
    for (const { id, place } of this.#live.values()) {
      const started = this.#state.runs.get(id);
      if (!started && place.says && beside) continue;
      if ((started ? started.leaf : place.leaf) === leaf) return place;
    }
    return undefined;
  }

  #startedAt(place: BranchTip): RunControl | undefined {
    return this.#live.values().find((live) => live.place === place && this.#state.runs.has(live.id));
  }

  #workerOn(leaf: string | null): BranchTip | undefined {
    const message = leaf === null ? undefined : this.#state.messages.get(leaf);
    if (message?.role !== "assistant" || isSettled(message)) return undefined;
    return this.#live.get(message.run)?.place;
  }
}

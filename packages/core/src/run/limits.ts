import {
  addCost,
  addUsage,
  type Cost,
  type EarlierUsage,
  noUsage,
  totalTokens,
  type Usage,
} from "../conversation/usage.ts";
import { alarm } from "../model/alarm.ts";

/**
 * Limits of a turn. The turn and its sub-agents share tokens, cost and time. Each counts its own steps.
 * @example
 * const limits: Limits = { steps: 20, tokens: 200_000, cost: 0.5, time: 10 * 60_000, depth: 1, repeats: 3, policy: "fail" };
 * new Agent({ model, tools: [launchAgent()], limits });
 */
export interface Limits {
  /** Maximum model calls of a turn. The final answer at a limit does not count. Default 50. */
  readonly steps?: number | undefined;
  /** Maximum input and output tokens of all model calls. */
  readonly tokens?: number | undefined;
  /** Maximum cost in US dollars. The turn throws at its start if the model's price is unknown. */
  readonly cost?: number | undefined;
  /** Maximum milliseconds of wall time. A tenth of them is reserved for the final answer. */
  readonly time?: number | undefined;
  /** Maximum nesting depth of sub-agents. Default 3; 0 switches sub-agents off. */
  readonly depth?: number | undefined;
  /** How many times in a row a call may have the same result while no call changes a file. Default 10. */
  readonly repeats?: number | undefined;
  /**
   * What a turn does at a limit. `wrap-up` (default): one final model call, which gets the reason and no tools; its
   * response ends the turn. `ask`: a user is asked to grant the same amount again. `fail`: the turn ends with an error.
   */
  readonly policy?: "wrap-up" | "ask" | "fail" | undefined;
}

const DEFAULT_STEPS = 50;
const DEFAULT_DEPTH = 3;
const DEFAULT_REPEATS = 10;

/**
 * Error of invalid limits, or of limits that cannot be enforced.
 * @example agent.send("Hello").catch((error) => console.log(error instanceof LimitError));
 */
export class LimitError extends Error {
  override readonly name = "LimitError";
  readonly code: "unknown-price" | "invalid-limit";

  constructor(code: "unknown-price" | "invalid-limit", message: string) {
    super(message);
    this.code = code;
  }
}

/** Throws `LimitError` if a cost limit cannot be enforced for a model. */
export function checkPrice({ cost }: Limits, { id, price }: { readonly id: string; readonly price?: unknown }): void {
  if (cost !== undefined && price === undefined)
    throw new LimitError("unknown-price", `A cost limit cannot be enforced: the price of ${id} is unknown.`);
}

/** Usage of a turn and all its sub-agents, or of a sub-agent that has limits of its own. */
class Pool {
  readonly limits: Limits;
  usage: Usage = noUsage;
  cost: Cost = 0;
  startedAt = performance.now();
  /** Milliseconds for which the clock was stopped. */
  stood = 0;
  /** Time at which the clock was stopped, and the number of current stops. */
  stoppedAt = 0;
  stops = 0;
  /** Factor on the limits: grows by one each time a user grants more. */
  grants = 1;
  /** The live turns. For each of them, room is reserved for its final answer. */
  readonly live = new Set<Budget>();
  /** Usage of the most expensive step so far, as an estimate for the final answer. */
  readonly dearest = { tokens: 0, cost: 0 };

  constructor(limits: Limits) {
    this.limits = limits;
  }

  elapsed(): number {
    return (this.stops > 0 ? this.stoppedAt : performance.now()) - this.startedAt - this.stood;
  }

  /** Milliseconds left of a part of the time limit. */
  rest(part = 1): number {
    const most = (this.limits.time ?? Number.POSITIVE_INFINITY) * this.grants * part;
    return most === Number.POSITIVE_INFINITY ? most : most - this.elapsed();
  }
}

/** Compares a turn's usage with its limits. A sub-agent shares tokens, cost and time, and may have its own limits. */
export class Budget {
  readonly limits: Limits;
  /** 0 for a turn that a user began, 1 for its sub-agents. */
  readonly depth: number;
  #steps = 0;
  /** The most equal results in a row of any call. */
  #repeats = 0;
  #timeIsUp = false;
  /** True while a model call is running whose cost is not known yet. */
  #asking = false;
  #usage: Usage = noUsage;
  #cost: Cost = 0;
  /** All pools that count the usage of this turn. The first pool contains the limits of this turn itself. */
  readonly #pools: readonly [Pool, ...Pool[]];
  readonly #parent: Budget | undefined;
  /** Factor on steps and repeats: grows by one each time a user grants more. */
  #grants = 1;

  /** True if a user refused in an earlier process to let the turn exceed its limit. */
  readonly isRefused: boolean;

  /** `before`: usage of the turn in an earlier process. */
  constructor(limits: Limits, parent?: Budget, before?: EarlierUsage) {
    this.limits = limits;
    this.isRefused = before?.isRefused ?? false;
    this.depth = parent ? parent.depth + 1 : 0;
    this.#parent = parent;
    const isShared = parent !== undefined && limits === parent.limits;
    this.#pools = isShared ? parent.#pools : [new Pool(limits), ...(parent ? parent.#pools : [])];
    // A sub-agent must find room for its first step before a final answer is reserved for it.
    if (!parent) this.#pool.live.add(this);
    if (before) this.#countOn(before, isShared);
  }

  get #pool(): Pool {
    return this.#pools[0];
  }

  #countOn({ steps, usage, cost, time, grants, dearest }: EarlierUsage, isShared: boolean): void {
    this.#steps = steps;
    this.#usage = usage;
    this.#cost = cost;
    this.#grants = grants.own;
    // The parent's turn has counted the usage of its sub-agents.
    if (isShared) return;
    const pool = this.#pool;
    pool.usage = usage;
    pool.cost = cost;
    // The time belongs to the whole turn.
    if (!this.#parent) pool.startedAt -= time;
    pool.grants = this.#parent ? grants.own : grants.all;
    Object.assign(pool.dearest, dearest);
  }

  /** Usage at the start of the next turn if the turn shares these limits. */
  spent(): EarlierUsage {
    const { cost, dearest, grants } = this.#pool;
    return {
      steps: this.#steps,
      usage: this.#usage,
      time: Math.round(this.elapsed()),
      dearest: { ...dearest },
      ...(cost !== undefined && { cost }),
      grants: { own: this.#grants, all: grants },
    };
  }

  /** Releases the room for the final answer at the end of the turn. */
  end(): void {
    for (const pool of this.#pools) pool.live.delete(this);
  }

  get steps(): number {
    return this.#steps;
  }

  /** True if the clock ended a step: no time is left for another step. */
  get timeIsUp(): boolean {
    return this.#timeIsUp;
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** Cost of this turn and its sub-agents in US dollars. */
  get cost(): Cost {
    return this.#cost;
  }

  beginStep(): void {
    this.#steps++;
  }

  endTime(): void {
    this.#timeIsUp = true;
  }

  repeated(times: number): void {
    this.#repeats = Math.max(this.#repeats, times);
  }

  /** Reserves room for a model call: until its response is counted, it may cost as much as the most expensive step. */
  ask(): void {
    this.#asking = true;
  }

  countResponse(usage: Usage, cost: Cost): void {
    this.#asking = false;
    this.count(usage, cost);
  }

  /** Counts the usage of a model call, also of an abandoned one. */
  count(usage: Usage, cost: Cost): void {
    for (let budget: Budget | undefined = this; budget; budget = budget.#parent) {
      budget.#usage = addUsage(budget.#usage, usage);
      budget.#cost = addCost(budget.#cost, cost);
    }
    for (const pool of this.#pools) {
      const { dearest } = pool;
      pool.usage = addUsage(pool.usage, usage);
      pool.cost = addCost(pool.cost, cost);
      dearest.tokens = Math.max(dearest.tokens, totalTokens(usage));
      dearest.cost = Math.max(dearest.cost, cost ?? 0);
    }
  }

  /** Takes room for a step and a final answer, before any other turn can. Without room, returns the limit. */
  takeRoom(): string | undefined {
    const limit = this.exhausted();
    this.#asking = limit === undefined;
    if (limit !== undefined) return limit;
    for (const pool of this.#pools) pool.live.add(this);
    return undefined;
  }

  /** True if room is reserved for a final answer. False for a sub-agent that had no room for its first step. */
  get hasLastWord(): boolean {
    return this.#pool.live.has(this);
  }

  /** Returns the limit that leaves no room for another step, or nothing. */
  exhausted(): string | undefined {
    const { steps = DEFAULT_STEPS, repeats = DEFAULT_REPEATS } = this.limits;
    const most = steps * this.#grants;
    if (this.#steps >= most) return `the limit of ${most} ${most === 1 ? "step" : "steps"}`;
    if (this.#repeats >= repeats * this.#grants) {
      return `the limit of ${repeats * this.#grants} repetitions of the same call`;
    }
    for (const pool of this.#pools) {
      const { tokens, cost } = pool.limits;
      if (tokens !== undefined && totalTokens(pool.usage) + this.#reserve(pool, "tokens") > tokens * pool.grants) {
        return `the limit of ${tokens * pool.grants} tokens`;
      }
      if (cost !== undefined && (pool.cost ?? 0) + this.#reserve(pool, "cost") > cost * pool.grants) {
        return `the limit of $${(cost * pool.grants).toFixed(12).replace(/\.?0+$/, "")}`;
      }
    }
    return this.#timeIsUp || this.#pools.some((pool) => pool.rest(0.9) <= 0) ? this.timeLimit() : undefined;
  }

  tooDeep(): string | undefined {
    for (let budget: Budget | undefined = this; budget; budget = budget.#parent) {
      const { depth = DEFAULT_DEPTH } = budget.limits;
      if (this.depth - budget.depth < depth) continue;
      return depth === 0
        ? "sub-agents are switched off"
        : `sub-agents may be nested ${depth} deep, and this is level ${depth}`;
    }
    return undefined;
  }

  /** The time limit that ends first. */
  timeLimit(): string {
    const [first = this.#pool] = this.#pools.toSorted((one, other) => one.rest() - other.rest());
    return `the limit of ${((first.limits.time ?? 0) * first.grants) / 1000} s`;
  }

  /** A user granted more: each limit grows by its original amount. */
  grant(): void {
    this.#grants++;
    for (const pool of this.#pools) pool.grants++;
    this.#timeIsUp = false;
  }

  /** Milliseconds that the turn has taken, without the waits for users. */
  elapsed(): number {
    return this.#pool.elapsed();
  }

  /** Stops the clock of the whole tree of turns. The clock resumes when all stops are disposed. */
  stopClock(): Disposable {
    const pools = this.#pools;
    for (const pool of pools) if (pool.stops++ === 0) pool.stoppedAt = performance.now();
    return {
      [Symbol.dispose]() {
        for (const pool of pools) if (--pool.stops === 0) pool.stood += performance.now() - pool.stoppedAt;
      },
    };
  }

  /** Milliseconds after which no new step begins and running work is ended. */
  softTime(): number {
    return this.#timeUntil(0.9);
  }

  /** Milliseconds after which a final answer that begins now is cut off. A tenth of the time is reserved for it. */
  lastWordTime(): number {
    return Math.max(this.hardTime(), this.elapsed() + this.hardTime() / 10);
  }

  hardTime(): number {
    return this.#timeUntil(1);
  }

  /** Milliseconds of `elapsed` at which a part of the first time limit is over. */
  #timeUntil(part: number): number {
    return Math.min(...this.#pools.map((pool) => pool.rest(part))) + this.elapsed();
  }

  /**
   * Room for the next step, for running steps of other turns, and for the final answer of each turn. Each is estimated
   * by the most expensive step so far.
   */
  #reserve({ dearest, live }: Pool, what: "tokens" | "cost"): number {
    let steps = 1;
    for (const budget of live) if (budget !== this && budget.#asking) steps++;
    const lastWords = live.has(this) ? live.size : live.size + 1;
    return dearest[what] * (steps + lastWords);
  }
}

interface TimeLimitedRun {
  readonly budget: Budget;
  readonly signal: AbortSignal;
}

class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** Milliseconds between checks of a clock that is stopped while a user is asked. */
const LOOK = 20;

/** Runs a part of a turn. Its signal also aborts after `until()` milliseconds, not counting open questions. */
export async function runInTime<T, Run extends TimeLimitedRun>(
  run: Run,
  until: () => number,
  part: (run: Run) => Promise<T>,
): Promise<T> {
  const { budget, signal: outer } = run;
  if (until() === Number.POSITIVE_INFINITY) return part(run);
  const clock = new AbortController();
  let cancel = () => {};
  const wait = (milliseconds: number) => {
    cancel = alarm(milliseconds, () => {
      const rest = until() - budget.elapsed();
      if (rest > 0) return wait(Math.max(rest, LOOK));
      budget.endTime();
      clock.abort(new OutOfTime(`the turn reached ${budget.timeLimit()}`));
    });
  };
  wait(Math.max(0, until() - budget.elapsed()));
  try {
    return await part({ ...run, signal: AbortSignal.any([outer, clock.signal]) });
  } finally {
    cancel();
  }
}

import {
  addCost,
  addUsage,
  type Cost,
  noUsage,
  type SpentBefore,
  totalTokens,
  type Usage,
} from "../conversation/usage.ts";
import { alarm } from "../model/alarm.ts";

/**
 * Limits of a turn. Tokens, cost and time are one pool with the sub-agents of the turn; steps are counted for each
 * conversation.
 */
export interface Limits {
  /**
   * Model calls of a turn. Default 50; the last word at a limit is not counted.
   * @example new Agent({ model, limits: { steps: 20 } });
   */
  readonly steps?: number | undefined;
  /**
   * Tokens, input and output together, of all model calls.
   * @example new Agent({ model, limits: { tokens: 200_000 } });
   */
  readonly tokens?: number | undefined;
  /**
   * US dollars. Refused at the start when the model's price is unknown.
   * @example new Agent({ model, limits: { cost: 0.5 } });
   */
  readonly cost?: number | undefined;
  /**
   * Milliseconds of wall time. A tenth of it is kept for the last word.
   * @example new Agent({ model, limits: { time: 10 * 60_000 } });
   */
  readonly time?: number | undefined;
  /**
   * How deep sub-agents may be nested. Default 3; with 0 there are none.
   * @example new Agent({ model, tools: [launchAgent()], limits: { depth: 1 } });
   */
  readonly depth?: number | undefined;
  /**
   * How often a turn may make one call that comes to the same, while no call changes a file. Default 10.
   * @example new Agent({ model, tools, limits: { repeats: 3 } });
   */
  readonly repeats?: number | undefined;
  /**
   * What happens at a limit. `wrap-up` (default): one last model call without tools, told why; its response is the turn's.
   * `ask`: a person is asked for as much again. `fail`: the turn ends there, with an error.
   * @example new Agent({ model, limits: { steps: 20, policy: "fail" } });
   */
  readonly policy?: "wrap-up" | "ask" | "fail" | undefined;
}

const DEFAULT_STEPS = 50;
const DEFAULT_DEPTH = 3;
const DEFAULT_REPEATS = 10;

/** Limits that no turn can hold. */
export class LimitError extends Error {
  override readonly name = "LimitError";
  readonly code: "unknown-price" | "invalid-limit";

  constructor(code: "unknown-price" | "invalid-limit", message: string) {
    super(message);
    this.code = code;
  }
}

/** Throws `LimitError` when a limit of the cost cannot be held with a model. */
export function checkPrice({ cost }: Limits, { id, price }: { readonly id: string; readonly price?: unknown }): void {
  if (cost !== undefined && price === undefined)
    throw new LimitError("unknown-price", `A cost limit cannot be enforced: the price of ${id} is unknown.`);
}

/** What a turn and all its sub-agents have used together. */
class Pool {
  usage: Usage = noUsage;
  cost: Cost = 0;
  startedAt = performance.now();
  /** Milliseconds that the clock stood still. */
  stood = 0;
  /** Since when it stands still; how many hold it. */
  stoppedAt = 0;
  stops = 0;
  /** How often a person granted as much again. */
  grants = 1;
  /** The turns for whose last word there is room kept. */
  readonly live = new Set<Budget>();
  /** The dearest step so far: what the last word may cost. */
  readonly dearest = { tokens: 0, cost: 0 };
}

/**
 * What a turn has used of its limits. Steps and repeats are its own; tokens, cost and time it shares with the turn
 * that launched it.
 */
export class Budget {
  readonly limits: Limits;
  /** 0 for a turn that a person began, 1 for its sub-agents. */
  readonly depth: number;
  #steps = 0;
  /** How often the call that repeated itself most has come to the same. */
  #repeats = 0;
  #timeIsUp = false;
  /** Room is taken for a model call, and what that costs is not known yet. */
  #asking = false;
  #usage: Usage = noUsage;
  #cost: Cost = 0;
  readonly #pool: Pool;
  readonly #parent: Budget | undefined;
  /** How often a person granted as many steps and repeats again. */
  #grants = 1;

  /** Whether a user refused, before the turn came to this process, to let it go on beyond its limit. */
  readonly isRefused: boolean;

  /** `before`: what the turn took before it came to this process. */
  constructor(limits: Limits, parent?: Budget, before?: SpentBefore) {
    this.limits = limits;
    this.isRefused = before?.isRefused ?? false;
    this.depth = parent ? parent.depth + 1 : 0;
    this.#parent = parent;
    this.#pool = parent ? parent.#pool : new Pool();
    // A sub-agent has to find room for its first step before it may have a last word.
    if (!parent) this.#pool.live.add(this);
    if (before) this.#countOn(before, parent === undefined);
  }

  #countOn({ steps, usage, cost, time, grants, dearest }: SpentBefore, isWhole: boolean): void {
    this.#steps = steps;
    this.#usage = usage;
    this.#cost = cost;
    this.#grants = grants.own;
    // What a sub-agent took, its parent's turn has counted.
    if (!isWhole) return;
    const pool = this.#pool;
    pool.usage = usage;
    pool.cost = cost;
    pool.startedAt -= time;
    pool.grants = grants.all;
    Object.assign(pool.dearest, dearest);
  }

  /** Usage with which the next turn begins if it shares these limits. */
  spent(): SpentBefore {
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

  /** The turn has ended. */
  end(): void {
    this.#pool.live.delete(this);
  }

  /** Steps that were begun. */
  get steps(): number {
    return this.#steps;
  }

  /** The clock ended a step: there is no time for another one. */
  get timeIsUp(): boolean {
    return this.#timeIsUp;
  }

  /** Of the turn and of those that it launched. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Of the same, in US dollars. */
  get cost(): Cost {
    return this.#cost;
  }

  beginStep(): void {
    this.#steps++;
  }

  endTime(): void {
    this.#timeIsUp = true;
  }

  /** A call has come to the same as before, this many times in a row. */
  repeated(times: number): void {
    this.#repeats = Math.max(this.#repeats, times);
  }

  /** A model is about to be asked: until its response is counted, it may cost as much as the dearest step. */
  ask(): void {
    this.#asking = true;
  }

  /** The response that the model was asked for has this usage. */
  countResponse(usage: Usage, cost: Cost): void {
    this.#asking = false;
    this.count(usage, cost);
  }

  /** Counts a model call, the tokens of an abandoned one included. */
  count(usage: Usage, cost: Cost): void {
    for (let budget: Budget | undefined = this; budget; budget = budget.#parent) {
      budget.#usage = addUsage(budget.#usage, usage);
      budget.#cost = addCost(budget.#cost, cost);
    }
    const { dearest } = this.#pool;
    this.#pool.usage = addUsage(this.#pool.usage, usage);
    this.#pool.cost = addCost(this.#pool.cost, cost);
    dearest.tokens = Math.max(dearest.tokens, totalTokens(usage));
    dearest.cost = Math.max(dearest.cost, cost ?? 0);
  }

  /**
   * Takes room for another step and a last word after it, at once, so that no two turns of a tree take the same. When
   * there is none, it takes nothing and returns why, in words.
   */
  takeRoom(): string | undefined {
    const limit = this.exhausted();
    this.#asking = limit === undefined;
    if (limit !== undefined) return limit;
    this.#pool.live.add(this);
    return undefined;
  }

  /** Whether room is kept for a last word; not for a sub-agent that had no room for its first step. */
  get hasLastWord(): boolean {
    return this.#pool.live.has(this);
  }

  /** Why there is no room for another step, in words; nothing when there is. */
  exhausted(): string | undefined {
    const { steps = DEFAULT_STEPS, repeats = DEFAULT_REPEATS, tokens, cost, time } = this.limits;
    const pool = this.#pool;
    const most = steps * this.#grants;
    if (this.#steps >= most) return `the limit of ${most} ${most === 1 ? "step" : "steps"}`;
    if (this.#repeats >= repeats * this.#grants) {
      return `the limit of ${repeats * this.#grants} repetitions of the same call`;
    }
    if (tokens !== undefined && totalTokens(pool.usage) + this.#reserve("tokens") > tokens * pool.grants) {
      return `the limit of ${tokens * pool.grants} tokens`;
    }
    if (cost !== undefined && (pool.cost ?? 0) + this.#reserve("cost") > cost * pool.grants) {
      return `the limit of $${(cost * pool.grants).toFixed(12).replace(/\.?0+$/, "")}`;
    }
    if (time !== undefined && (this.#timeIsUp || this.elapsed() >= this.softTime())) return this.timeLimit();
    return undefined;
  }

  /** Why no sub-agent can be launched, in words; nothing if one can. */
  tooDeep(): string | undefined {
    const { depth = DEFAULT_DEPTH } = this.limits;
    if (this.depth < depth) return undefined;
    return depth === 0
      ? "sub-agents are switched off"
      : `sub-agents may be nested ${depth} deep, and this is level ${depth}`;
  }

  timeLimit(): string {
    return `the limit of ${((this.limits.time ?? 0) * this.#pool.grants) / 1000} s`;
  }

  /** A person allows as much again. */
  grant(): void {
    this.#grants++;
    this.#pool.grants++;
    this.#timeIsUp = false;
  }

  /** Milliseconds that the turn has taken, without those for which a user was asked. */
  elapsed(): number {
    const { startedAt, stood, stoppedAt, stops } = this.#pool;
    return (stops > 0 ? stoppedAt : performance.now()) - startedAt - stood;
  }

  /**
   * Stops the clock of the whole tree of turns. It goes on when what is returned, and every other stop, has been disposed
   * of.
   */
  stopClock(): Disposable {
    const pool = this.#pool;
    if (pool.stops++ === 0) pool.stoppedAt = performance.now();
    return {
      [Symbol.dispose]() {
        if (--pool.stops === 0) pool.stood += performance.now() - pool.stoppedAt;
      },
    };
  }

  /** Milliseconds after which no new step begins and what runs is ended. */
  softTime(): number {
    return this.hardTime() * 0.9;
  }

  /** Milliseconds after which the last word is cut off too, if it begins now: a tenth of the time is its own. */
  lastWordTime(): number {
    return Math.max(this.hardTime(), this.elapsed() + this.hardTime() / 10);
  }

  /** Milliseconds of the turn as a whole. */
  hardTime(): number {
    return (this.limits.time ?? Number.POSITIVE_INFINITY) * this.#pool.grants;
  }

  /**
   * Room for a further step, for those that other turns of the tree are at, and for the last word of each, all as dear as
   * the dearest step so far; at first, any room will do.
   */
  #reserve(what: "tokens" | "cost"): number {
    const { dearest, live } = this.#pool;
    let steps = 1;
    for (const budget of live) if (budget !== this && budget.#asking) steps++;
    const lastWords = live.has(this) ? live.size : live.size + 1;
    return dearest[what] * (steps + lastWords);
  }
}

/** What has a limit of time, and ends when its signal aborts. */
interface Timed {
  readonly budget: Budget;
  readonly signal: AbortSignal;
}

/** The time of a turn is up. */
class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** While a person is asked, the clock stands still: whether it goes on is looked at every so many milliseconds. */
const LOOK = 20;

/**
 * Runs a part of a turn, with a run whose signal also aborts when the turn has lasted `until()` milliseconds: a person who
 * is asked somewhere in its tree stops the clock, and may grant more.
 */
export async function inTime<T, Run extends Timed>(
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

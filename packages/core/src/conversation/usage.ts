/**
 * Tokens of one or more model calls. All counts are whole numbers; zero if the provider reports none.
 * See {@link usageOnPath}.
 */
export interface Usage {
  /** Tokens of the request, including those read from and written to a cache. */
  readonly input: number;
  /** Tokens of `input` that the provider read from its cache. */
  readonly cached: number;
  /** Tokens of `input` that the provider wrote to its cache. */
  readonly cacheWrite: number;
  /** Tokens of the response, including reasoning. */
  readonly output: number;
  /** Tokens of `output` that the model used for reasoning. */
  readonly reasoning: number;
}

/**
 * Causes of cache misses: the first request of a conversation or sub-agent; a change of the model, the tools, the
 * instructions or the settings; a compaction; a pause that was too long; or a decision of the provider.
 * @example
 * const misses = [...session.state.messages.values()].flatMap((message) =>
 *   message.role === "assistant" && message.cacheMiss ? [message.cacheMiss.cause] : [],
 * );
 * for (const cause of cacheMissCauses) console.log(cause, misses.filter((one) => one === cause).length);
 */
export const cacheMissCauses = [
  "first-request",
  "model",
  "tools",
  "instructions",
  "settings",
  "compaction",
  "pause",
  "provider",
] as const;

/** A part of a request that the provider's cache could have had, but did not. See {@link cacheMissCauses}. */
export interface CacheMiss {
  readonly cause: (typeof cacheMissCauses)[number];
  /** Tokens that the provider read again because they were not in its cache. */
  readonly tokens: number;
}

/** US dollars; `undefined` means unknown, never zero. See {@link usageOnPath}. */
export type Cost = number | undefined;

/** Usage of a turn, including failed model calls. See {@link isEvent}. */
export interface TurnUsage {
  /** The number of steps that have begun. The final answer at a limit does not count. */
  readonly steps: number;
  readonly usage: Usage;
  /** US dollars. Absent: the price of a model is unknown. */
  readonly cost?: number;
}

/** Usage so far of a turn that another run continues, or whose limits another turn shares. See {@link isEvent}. */
export interface EarlierUsage extends TurnUsage {
  /** Duration in milliseconds, without the waits for users. */
  readonly time: number;
  /** How many times users granted the limits once more: for this run, and for all runs of its turn. */
  readonly grants: { readonly own: number; readonly all: number };
  /** Set if a user refused to let the turn exceed its limit. */
  readonly isRefused?: boolean;
  /** Usage of the most expensive model call of the turn. */
  readonly dearest: { readonly tokens: number; readonly cost: number };
}

/**
 * A usage of zero tokens, to begin a sum.
 * @example const usage = [noUsage, noUsage].reduce(addUsage);
 */
export const noUsage: Usage = Object.freeze({ input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 });

/** A greater number is a reporting error. */
const MOST = 1e9;

function tokenCount(reported: unknown): number {
  return typeof reported === "number" && reported > 0 && reported <= MOST ? Math.round(reported) : 0;
}

/**
 * Returns reported usage with corrected counts. All counts become whole numbers, and no part is greater than its total.
 * @example cleanUsage({ input: 10, cached: 20 }).cached // 10
 */
export function cleanUsage(reported: { readonly [Count in keyof Usage]?: unknown } | undefined): Usage {
  const input = tokenCount(reported?.input);
  const output = tokenCount(reported?.output);
  const cached = Math.min(tokenCount(reported?.cached), input);
  return {
    input,
    cached,
    cacheWrite: Math.min(tokenCount(reported?.cacheWrite), input - cached),
    output,
    reasoning: Math.min(tokenCount(reported?.reasoning), output),
  };
}

/**
 * Returns a reported cost, or `undefined` if it is not an amount.
 * @example cleanCost(-1) // undefined
 */
export function cleanCost(reported: unknown): Cost {
  return typeof reported === "number" && reported >= 0 && Number.isFinite(reported) ? reported : undefined;
}

/**
 * Adds two usages.
 * @example addUsage(noUsage, { ...noUsage, input: 10 }).input // 10
 */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

/**
 * Adds two costs. If one is unknown, the sum is unknown.
 * @example addCost(0.5, undefined) // undefined
 */
export function addCost(a: Cost, b: Cost): Cost {
  return a === undefined || b === undefined ? undefined : a + b;
}

/**
 * Returns the tokens that count for a token limit.
 * @example totalTokens({ ...noUsage, input: 10, output: 5 }) // 15
 */
export function totalTokens(usage: Usage): number {
  return usage.input + usage.output;
}

/** Prices in US dollars per million tokens. See {@link costOf}. */
export interface Price {
  /** Price of a million tokens of the request. */
  readonly input: number;
  /** Price of a million tokens of the response, including reasoning. */
  readonly output: number;
  /** Price of input read from the cache. Default: `input`. */
  readonly cached?: number | undefined;
  /** Price of input written to the cache. Default: `input`. */
  readonly cacheWrite?: number | undefined;
}

/**
 * Returns the cost of a usage, or `undefined` without a price.
 * @example costOf({ ...noUsage, input: 1_000_000 }, { input: 3, output: 15 }) // 3
 */
export function costOf(usage: Usage, price: Price | undefined): Cost {
  if (!price) return undefined;
  const plain = usage.input - usage.cached - usage.cacheWrite;
  return (
    (plain * price.input +
      usage.cached * (price.cached ?? price.input) +
      usage.cacheWrite * (price.cacheWrite ?? price.input) +
      usage.output * price.output) /
    1_000_000
  );
}

/** Tokens of one or more model calls. All counts are whole numbers; zero where the provider says nothing. */
export interface Usage {
  /** Tokens of the request, those read from and written to a cache included. */
  readonly input: number;
  /** The part of `input` that was read from the provider's cache. */
  readonly cached: number;
  /** The part of `input` that was written to the provider's cache. */
  readonly cacheWrite: number;
  /** Tokens of the response, reasoning included. */
  readonly output: number;
  /** The part of `output` that was reasoning. */
  readonly reasoning: number;
}

/** US dollars; `undefined` means unknown, never zero. */
export type Cost = number | undefined;

/** What a turn took, with all model calls that came to nothing. */
export interface Spent {
  /** Steps that were begun; the last word at a limit is none. */
  readonly steps: number;
  readonly usage: Usage;
  /** US dollars; absent when the price of a model is not known. */
  readonly cost?: number;
}

/** Usage of a turn before another run continues it, or before another turn shares its limits: the limits count on from here. */
export interface SpentBefore extends Spent {
  /** Milliseconds, without those for which a user was asked. */
  readonly time: number;
  /** How often a user granted as much again: to this run, and to any run of its turn. */
  readonly grants: { readonly own: number; readonly all: number };
  /** A user refused to go on beyond the limit. */
  readonly isRefused?: boolean;
  /** The dearest model call of the turn. */
  readonly dearest: { readonly tokens: number; readonly cost: number };
}

/** The usage of nothing: what sums begin with. */
export const noUsage: Usage = Object.freeze({ input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 });

/** The most tokens that one model call can have: a greater number is an error of whoever reported it. */
const MOST = 1e9;

/** A count of tokens as it was reported; 0 where that cannot be one (negative, not a number, absurdly large). */
function tokenCount(reported: unknown): number {
  return typeof reported === "number" && reported > 0 && reported <= MOST ? Math.round(reported) : 0;
}

/** The usage that was reported, with each count mended: whole numbers, and no part greater than its whole. */
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

/** The cost that was reported; unknown when it is not an amount. */
export function cleanCost(reported: unknown): Cost {
  return typeof reported === "number" && reported >= 0 && Number.isFinite(reported) ? reported : undefined;
}

/** The usage of both. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

/** Adds two costs; the sum with an unknown cost is unknown. */
export function addCost(a: Cost, b: Cost): Cost {
  return a === undefined || b === undefined ? undefined : a + b;
}

/** All tokens of a usage: what a token limit counts. */
export function totalTokens(usage: Usage): number {
  return usage.input + usage.output;
}

/** Prices in US dollars per million tokens. */
export interface Price {
  /** For a million tokens of the request. */
  readonly input: number;
  /** For a million tokens of the response, reasoning included. */
  readonly output: number;
  /** For input read from the cache; `input` when absent. */
  readonly cached?: number | undefined;
  /** For input written to the cache; `input` when absent. */
  readonly cacheWrite?: number | undefined;
}

/** What a usage costs at a price; unknown without a price. */
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

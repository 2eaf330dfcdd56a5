/** Tokens of one or more model calls. All counts are whole numbers; zero where the provider says nothing. */
export interface Usage {
  /** Tokens of the request, those read from and written to a cache included. */
  readonly input: number;
  /** The part of `input` that was read from the provider's cache. */
  readonly cached: number;
  /** The part of `input` that was written to the provider's cache. */
  readonly cacheWrite: number;
  /** Tokens of the answer, reasoning included. */
  readonly output: number;
  /** The part of `output` that was reasoning. */
  readonly reasoning: number;
}

/** US dollars; `undefined` means unknown, never zero. */
export type Cost = number | undefined;

/** The usage of nothing: what sums begin with. */
export const noUsage: Usage = Object.freeze({ input: 0, cached: 0, cacheWrite: 0, output: 0, reasoning: 0 });

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

/** Prices in US dollars for a million tokens. */
export interface Price {
  /** For a million tokens of the request. */
  readonly input: number;
  /** For a million tokens of the answer, reasoning included. */
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

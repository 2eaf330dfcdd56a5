import { formatCount } from "@banyan/core/shown";
import type { KnownModel } from "@banyan/host";

/** Columns of a model's facts: dollars per million tokens of input, cached input and output, and context size in tokens. */
export const FACTS_HEAD = ["in", "cached", "out", "context"] as const;

/** Facts of a model as table cells; `—` for unknown facts. */
export function factsCells({ price, contextSize }: Omit<KnownModel, "name">): string[] {
  const dollars = [price?.input, price ? (price.cached ?? price.input) : undefined, price?.output];
  return [
    ...dollars.map((amount) => (amount === undefined ? UNKNOWN : formatDollars(amount))),
    contextSize === undefined ? UNKNOWN : formatCount(contextSize),
  ];
}

/** Dollars per million tokens, without needless digits, and with two if there are cents. */
export function formatDollars(amount: number): string {
  const text = String(Number(amount.toPrecision(6)));
  return `$${/\.\d$/.test(text) ? `${text}0` : text}`;
}

const UNKNOWN = "—";

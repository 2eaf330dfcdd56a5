import { formatCount } from "@banyan/core/shown";
import type { KnownModel } from "@banyan/host";

/** The columns of a model's facts: dollars for a million tokens in, cached and out, and tokens of context. */
export const FACTS_HEAD = ["in", "cached", "out", "context"] as const;

/** The facts of a model as cells of a table; `—` for what is unknown. */
export function factsCells({ price, contextSize }: Omit<KnownModel, "name">): string[] {
  const dollars = [price?.input, price ? (price.cached ?? price.input) : undefined, price?.output];
  return [
    ...dollars.map((amount) => (amount === undefined ? UNKNOWN : formatDollars(amount))),
    contextSize === undefined ? UNKNOWN : formatCount(contextSize),
  ];
}

/** What a million tokens cost, to a person who looks at it: no more digits than there are, and two where there are cents. */
export function formatDollars(amount: number): string {
  const text = String(Number(amount.toPrecision(6)));
  return `$${/\.\d$/.test(text) ? `${text}0` : text}`;
}

const UNKNOWN = "—";

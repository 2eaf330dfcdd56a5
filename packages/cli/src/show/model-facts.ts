import { formatCount } from "@banyan/core/shown";
import type { KnownModel } from "@banyan/host";

/** Table headings for dollars per million tokens (input, cached input, output) and for the context size in tokens. */
export const FACTS_HEAD = ["in", "cached", "out", "context"] as const;

/** Returns the facts of a model as table cells; `—` for unknown facts. */
export function factsCells({ price, contextSize }: Omit<KnownModel, "name">): string[] {
  const dollars = [price?.input, price ? (price.cached ?? price.input) : undefined, price?.output];
  return [
    ...dollars.map((amount) => (amount === undefined ? UNKNOWN : formatDollars(amount))),
    contextSize === undefined ? UNKNOWN : formatCount(contextSize),
  ];
}

/** Formats an amount of dollars, such as `$3`, `$0.50` or `$0.125`. */
export function formatDollars(amount: number): string {
  const text = String(Number(amount.toPrecision(6)));
  return `$${/\.\d$/.test(text) ? `${text}0` : text}`;
}

const UNKNOWN = "—";

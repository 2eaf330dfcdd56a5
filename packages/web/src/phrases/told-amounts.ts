import { type Cost, totalTokens, type Usage } from "@banyan/core/conversation";
import { formatCost } from "@banyan/core/shown";
import { t } from "./phrases.ts";

/** `$0.12`; that it is unknown, where the price is: that is not the same as free. */
export function toldCost(cost: Cost): string {
  return cost === undefined ? t("cost unknown") : formatCost(cost);
}

/** `1,200 (1,000 cached) tokens in, 5 out (3 reasoning)` in the language of the page; empty when there are none. */
export function toldTokens(usage: Usage): string {
  if (totalTokens(usage) === 0) return "";
  return t("{input} tokens in, {output} out", {
    input: withPart(usage.input, usage.cached, (tokens) => t("{tokens} cached", { tokens })),
    output: withPart(usage.output, usage.reasoning, (tokens) => t("{tokens} reasoning", { tokens })),
  });
}

/** What model calls took, in a few words; empty when they took nothing, or nobody told what. */
export function toldSpent(usage: Usage, cost: Cost): string {
  const tokens = toldTokens(usage);
  if (tokens === "") return "";
  return `${tokens} · ${cost === undefined ? t("cost unknown") : t("cost {cost}", { cost: formatCost(cost) })}`;
}

/** `1,200 (1,000 cached)`; a number alone where it stays one, which is written as the language writes numbers. */
function withPart(tokens: number, part: number, words: (part: number) => string): string | number {
  if (part === 0) return tokens;
  return t("{tokens} ({part})", { tokens, part: words(part) });
}

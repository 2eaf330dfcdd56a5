import type { Cost, Usage } from "@banyan/core";
import { totalTokens } from "@banyan/core/conversation";
import { counted, formatSpent } from "@banyan/core/shown";

/** What a turn took. */
export interface Spent {
  readonly model: string;
  /** Model calls. */
  readonly steps: number;
  readonly usage: Usage;
  readonly cost: Cost;
}

/** `anthropic/claude · 2 model calls · 1,200 tokens in, 80 out · cost $0.01`: what a turn took; no line when no model was asked. */
export function turnLine({ model, steps, usage, cost }: Spent): string[] {
  if (totalTokens(usage) === 0) return [];
  const calls = steps > 1 ? ` · ${counted(steps, "model call")}` : "";
  return [`${model}${calls} · ${formatSpent(usage, cost)}`];
}

import type { Turn } from "@banyan/core";
import { totalTokens } from "@banyan/core/conversation";
import { counted, formatSpent } from "@banyan/core/shown";

/** `anthropic/claude · 2 model calls · 1,200 tokens in, 80 out · cost $0.01`: what a turn took; no line when no model was asked. */
export function turnLine({ message, steps, usage, cost }: Turn, model: string): string[] {
  if (totalTokens(usage) === 0) return [];
  const calls = steps > 1 ? ` · ${counted(steps, "model call")}` : "";
  return [`${message?.model ?? model}${calls} · ${formatSpent(usage, cost)}`];
}

import type { Cost, RunEnd, Usage } from "@banyan/core";
import { toldBreak, totalTokens } from "@banyan/core/conversation";
import { counted, formatSpent } from "@banyan/core/shown";
import { oneLine } from "./plain-text.ts";
import type { Style } from "./style.ts";

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

/** Says why a run ended, when it did not simply answer. `error`: what the model's service or the loop said. */
export function runEndSentence(reason: RunEnd, error: string | undefined, style: Style): string | undefined {
  switch (reason) {
    case "interrupted":
      return style.warning("Interrupted – you have control");
    case "failed":
      return `${style.bad("Failed:")} ${oneLine(error ?? toldBreak({ reason }).why)}`;
    case "limit":
      return `${style.warning(oneLine(error ?? toldBreak({ reason }).why))} Reply to go on.`;
    case "answered":
    case "finished":
      return undefined;
  }
}

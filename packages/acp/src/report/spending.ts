import type { Cost, Usage as TheirUsage } from "@agentclientprotocol/sdk/unstable";
import { noUsage, type Usage } from "@banyan/core/conversation";

/**
 * What a session costs, as its agent says: the sum since the session began. Our tree counts each response, so it is told what
 * was added since the last.
 */
export class Spending {
  #total: number | undefined;
  #counted = 0;
  /** What the session had cost when it was left. */
  #before: number | undefined;
  #begun = false;

  /** The session goes on from an earlier turn, which had cost so much. */
  goOnFrom(before: number | undefined): void {
    this.#before = before;
  }

  /** The turn begins: what was told until now is of earlier ones. */
  begin(): void {
    this.#begun = true;
    this.#counted = this.#total ?? 0;
    if (this.#total !== undefined) this.#before = undefined;
  }

  /** Takes in what is told. Other money than US dollars is not counted, and what is spent stays unknown. */
  take(cost: Cost | null | undefined): void {
    if (cost?.currency !== "USD" || !(cost.amount >= 0)) return;
    // Some begin to count anew when their process does.
    if (this.#begun && this.#before !== undefined && cost.amount >= this.#before) this.#counted = this.#before;
    this.#before = undefined;
    this.#total = cost.amount;
  }

  /** What the session has cost; undefined while nothing is told. */
  get total(): number | undefined {
    return this.#total;
  }

  /** US dollars since the last response was counted. */
  since(): number {
    const since = Math.max((this.#total ?? this.#counted) - this.#counted, 0);
    this.#counted += since;
    return since;
  }

  /** The same at the end of a turn; unknown when the agent tells no cost at all. */
  rest(): number | undefined {
    return this.#total === undefined ? undefined : this.since();
  }
}

/** The tokens of a turn. Those of the cache, some count among the input and some beside it: their sum says which. */
export function usageOf(usage: TheirUsage | null | undefined): Usage {
  if (!usage) return noUsage;
  const { inputTokens, outputTokens, totalTokens } = usage;
  const [cached, cacheWrite, reasoning] = [usage.cachedReadTokens, usage.cachedWriteTokens, usage.thoughtTokens].map(
    (count) => count ?? 0,
  ) as [number, number, number];
  const isBeside = totalTokens >= inputTokens + outputTokens + cached + cacheWrite;
  return {
    input: inputTokens + (isBeside ? cached + cacheWrite : 0),
    output: outputTokens,
    cached,
    cacheWrite,
    reasoning,
  };
}

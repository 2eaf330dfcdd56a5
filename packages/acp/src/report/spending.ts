import type { Cost, Usage as TheirUsage } from "@agentclientprotocol/sdk/unstable";
import { noUsage, type Usage } from "@banyan/core/conversation";

/**
 * Splits the cost of an agent's session into costs of responses. The agent reports the sum since the session began, so
 * each response gets the increase since the previous response.
 */
export class SessionCost {
  #total: number | undefined;
  #counted = 0;
  #before: number | undefined;
  #begun = false;

  /** Continues a session that had this cost in US dollars after its last turn. */
  goOnFrom(before: number | undefined): void {
    this.#before = before;
  }

  /** Begins a turn. Costs reported until now belong to earlier turns. */
  begin(): void {
    this.#begun = true;
    this.#counted = this.#total ?? 0;
    if (this.#total !== undefined) this.#before = undefined;
  }

  /** Records a reported cost. Ignores other currencies than US dollars, so that the cost stays unknown. */
  take(cost: Cost | null | undefined): void {
    if (cost?.currency !== "USD" || !(cost.amount >= 0)) return;
    // An amount below `#before` means that the agent's new process counts from zero again.
    if (this.#begun && this.#before !== undefined && cost.amount >= this.#before) this.#counted = this.#before;
    this.#before = undefined;
    this.#total = cost.amount;
  }

  /** US dollars of the session; undefined until the agent reports a cost. */
  get total(): number | undefined {
    return this.#total;
  }

  since(): number {
    const since = Math.max((this.#total ?? this.#counted) - this.#counted, 0);
    this.#counted += since;
    return since;
  }

  /** Like `since`, at the end of a turn; undefined if the agent reports no cost. */
  rest(): number | undefined {
    return this.#total === undefined ? undefined : this.since();
  }
}

/**
 * Converts an agent's token counts of a turn. Some agents count cache tokens as input and some do not; `totalTokens`
 * shows which way an agent counts.
 */
export function agentUsage(usage: TheirUsage | null | undefined): Usage {
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

import type { Cost, Usage as TheirUsage } from "@agentclientprotocol/sdk/unstable";
import { noUsage, type Usage } from "@banyan/core/conversation";

/**
 * Cost of a session. The agent reports the sum since the session began. The conversation counts each response, so
 * each response gets the cost since the previous one.
 */
export class SessionCost {
  #total: number | undefined;
  #counted = 0;
  /** Cost of the session at the end of the previous turn. */
  #before: number | undefined;
  #begun = false;

  /** The session continues from an earlier turn with this cost in US dollars. */
  goOnFrom(before: number | undefined): void {
    this.#before = before;
  }

  /** The turn begins: costs reported until now belong to earlier turns. */
  begin(): void {
    this.#begun = true;
    this.#counted = this.#total ?? 0;
    if (this.#total !== undefined) this.#before = undefined;
  }

  /** Records a reported cost. Ignores other currencies than US dollars, so that the cost stays unknown. */
  take(cost: Cost | null | undefined): void {
    if (cost?.currency !== "USD" || !(cost.amount >= 0)) return;
    // An amount below `#before` means that the agent counts from zero again in its new process.
    if (this.#begun && this.#before !== undefined && cost.amount >= this.#before) this.#counted = this.#before;
    this.#before = undefined;
    this.#total = cost.amount;
  }

  /** Cost of the session in US dollars; undefined until the agent reports a cost. */
  get total(): number | undefined {
    return this.#total;
  }

  /** US dollars since the last counted response. */
  since(): number {
    const since = Math.max((this.#total ?? this.#counted) - this.#counted, 0);
    this.#counted += since;
    return since;
  }

  /** US dollars since the last counted response, at the end of a turn; undefined if the agent reports no cost. */
  rest(): number | undefined {
    return this.#total === undefined ? undefined : this.since();
  }
}

/** Token usage of a turn. Some agents include cache tokens in the input and some do not: `totalTokens` shows which. */
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

import type { Usage } from "@banyan/core";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { countAt } from "../wire/json.ts";

/**
 * Adds up the token counts of an answer. The counts of the input come at its start, and the other counts at its end,
 * where some are repeated.
 */
export class UsageCount {
  #told: JsonRecord = {};

  add(usage: JsonRecord): void {
    // A 0 at the end never overwrites a count (F65).
    const told = Object.entries(usage).filter(([name, value]) => value !== null && !(value === 0 && this.#told[name]));
    this.#told = { ...this.#told, ...Object.fromEntries(told) };
  }

  /** Anthropic counts cached tokens apart from `input_tokens`; here they are part of the input. */
  get sum(): Usage {
    const cached = countAt(this.#told, "cache_read_input_tokens");
    const cacheWrite = countAt(this.#told, "cache_creation_input_tokens");
    const details = this.#told.output_tokens_details;
    const { input, output } = this.#executed();
    return {
      input: input + cached + cacheWrite,
      cached,
      cacheWrite,
      output,
      reasoning: isJsonRecord(details) ? countAt(details, "thinking_tokens") : 0,
    };
  }

  /** Tokens outside the cache: the samplings' counts if listed, without an advisor's tokens. */
  #executed(): { input: number; output: number } {
    const totals = { input: countAt(this.#told, "input_tokens"), output: countAt(this.#told, "output_tokens") };
    const { iterations } = this.#told;
    const all = Array.isArray(iterations) ? iterations.filter(isJsonRecord) : [];
    const own = all.filter(({ type }) => type === "message" || type === "compaction");
    if (own.length === 0 || all.some(({ type }) => type === "fallback_message")) return totals;
    return own.reduce<typeof totals>(
      ({ input, output }, one) => ({
        input: input + countAt(one, "input_tokens"),
        output: output + countAt(one, "output_tokens"),
      }),
      { input: 0, output: 0 },
    );
  }
}

import type { Usage } from "@banyan/core";

/** Merges counts of an answer that its server reports repeatedly. A later 0 never overwrites a count (F65). */
export function laterUsage(before: Usage, later: Usage): Usage {
  return {
    input: later.input || before.input,
    cached: later.cached || before.cached,
    cacheWrite: later.cacheWrite || before.cacheWrite,
    output: later.output || before.output,
    reasoning: later.reasoning || before.reasoning,
  };
}

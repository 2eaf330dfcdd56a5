import type { Usage } from "@banyan/core";
import { isJsonRecord, type JsonRecord } from "@banyan/core/shown";
import { countAt } from "../wire/json.ts";
import type { ResponsesProvider } from "./provider.ts";

/**
 * Converts the token counts of a response. If the cached tokens of xAI exceed the input, xAI has counted them apart
 * from the input, and they are added to it.
 */
export function responsesUsage(usage: JsonRecord, provider: ResponsesProvider): Usage {
  const details = isJsonRecord(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const spent = isJsonRecord(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const input = countAt(usage, "input_tokens");
  const cached = countAt(details, "cached_tokens");
  return {
    input: provider === "xai" && cached > input ? input + cached : input,
    cached,
    cacheWrite: countAt(details, "cache_write_tokens"),
    output: countAt(usage, "output_tokens"),
    reasoning: countAt(spent, "reasoning_tokens"),
  };
}

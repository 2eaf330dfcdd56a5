import type { LanguageModelRequest } from "@banyan/core/ai-sdk";
import { markForCache } from "./cache-marks.ts";
import { CallIds } from "./call-ids.ts";

/** The form of ids of calls. */
export const CALL_IDS = /^[\w-]+$/;

/** Up to what it stands on, Anthropic caches a request. */
export const CACHE_MARK = { type: "ephemeral" } as const;

/**
 * What Anthropic needs of a request: ids of calls in its form, which those of other providers may not have, and marks
 * for its cache, which it has no other way to know. Marks are left to a user who sets `cacheControl` for the whole request.
 */
export function adaptForAnthropic(): (request: LanguageModelRequest) => LanguageModelRequest {
  const ids = new CallIds(CALL_IDS);
  return (request) => {
    const repaired = ids.repair(request);
    if (request.providerOptions?.anthropic?.cacheControl !== undefined) return repaired;
    return markForCache(repaired, { anthropic: { cacheControl: CACHE_MARK } });
  };
}

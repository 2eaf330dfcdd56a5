import type { LanguageModelOptions } from "@banyan/core";
import { markForCache } from "./cache-marks.ts";
import { CallIds } from "./call-ids.ts";

/** What Bedrock needs of a request: ids of calls in its form and, for Claude, marks for its cache; other models refuse them. */
export function adaptForBedrock(model: string): Pick<LanguageModelOptions, "adapt"> {
  const ids = new CallIds(/^[\w-]{1,64}$/);
  if (!/\banthropic\.claude/.test(model)) return { adapt: ids.repair };
  return { adapt: (request) => markForCache(ids.repair(request), { bedrock: { cachePoint: { type: "default" } } }) };
}

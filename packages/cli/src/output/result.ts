import type { Cost } from "@banyan/core";
import type { z } from "zod";
import type { resultSchema } from "./schema.ts";

/** What `--print` comes to: the whole of `--output json`, the last line of `--output jsonl`. */
export type Result = z.infer<typeof resultSchema>;

/** A cost as JSON has it. */
export function jsonCost(cost: Cost): number | null {
  return cost ?? null;
}

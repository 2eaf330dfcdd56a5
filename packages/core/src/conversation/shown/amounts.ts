import type { Cost } from "../usage.ts";
import { inEnglish, type Say } from "./say.ts";

/** More digits do not help users. */
const SMALLEST_COST = 0.0001;

/**
 * Formats a cost, such as `$0.0012` or `$0.12`. An unknown cost becomes `unknown`.
 * @example formatCost(0.1234) // "$0.12"
 */
export function formatCost(cost: Cost, say: Say = inEnglish): string {
  if (cost === undefined) return say("unknown");
  if (cost === 0) return "$0";
  if (cost < SMALLEST_COST) return `<$${SMALLEST_COST}`;
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`;
}

/**
 * Formats a number with separators, such as `1,234`.
 * @example formatCount(1_234) // "1,234"
 */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/**
 * Formats a number with its noun, such as `2 messages`. `things`: the plural, if it is not `thing` with an `s`.
 * @example counted(2, "branch", "branches") // "2 branches"
 */
export function counted(count: number, thing: string, things = `${thing}s`): string {
  return `${formatCount(count)} ${count === 1 ? thing : things}`;
}

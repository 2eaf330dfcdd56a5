import type { Json } from "@banyan/core";
import type { Effort } from "../provider/effort.ts";

/**
 * Format of a model's requests. The name of the model decides it. Unknown Gemini models and aliases are treated like
 * the newest model.
 */
export interface ModelFeatures {
  /**
   * True for Gemini 3 and newer. They require signatures of calls, and accept files in results and functions beside
   * Google's tools.
   */
  readonly isNew: boolean;
  /** True if the model takes instructions only in the first user message. */
  readonly isGemma: boolean;
  /** True if the model accepts tools that Google runs. */
  readonly hasServerTools: boolean;
  readonly hasFileSearch: boolean;
}

const GEMINI = /(^|[/.])gemini-/i;
const FIRST = /(^|[/.])gemini-(1([.-]|$)|pro(-vision)?$|robotics-er-1\.5([.-]|$))/i;
const SECOND = /(^|[/.])gemini-2([.-]|$)/i;

export function featuresOf(model: string): ModelFeatures {
  const isNewer = GEMINI.test(model) && !FIRST.test(model);
  const isNew = isNewer && !SECOND.test(model);
  return {
    isNew,
    isGemma: /^gemma-/i.test(model),
    hasServerTools: isNewer || /nano-banana/i.test(model),
    hasFileSearch: isNew || /(^|[/.])gemini-2\.5([.-]|$)/i.test(model),
  };
}

/** Tokens of the longest response, from which budgets are derived. */
const LONGEST = 65_536;
/** Shares of `LONGEST` by effort. */
const SHARES = { none: 0, minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, max: 0.95 } as const;

const HYDROGEN = /(^|[/.])gemini-4-hydrogen(-|$)/i;
/** Models that refuse the level `minimal`. */
const NOT_MINIMAL =
  /(^|[/.])gemini-(flash-latest|\d+(\.\d+)?-pro(-[^/]*)?|(3\.([7-9]|[1-9]\d+)|([4-9]|[1-9]\d+)\.\d+)-flash(-(?!lite(-|$))[^/]*)?)$/i;

/** Returns the field `thinkingConfig` for an effort: a level for new models, or else a budget in tokens. */
export function thinkingFor(model: string, effort: Effort): Readonly<Record<string, Json>> {
  if (featuresOf(model).isNew && !model.includes("gemini-3-pro-image")) return { thinkingLevel: level(model, effort) };
  const isPro = /2\.5-pro/i.test(model);
  const least = isPro ? 128 : 0;
  const most = isPro || /gemini-3-pro-image/i.test(model) ? 32_768 : 24_576;
  return { thinkingBudget: Math.min(most, Math.max(least, Math.round(LONGEST * SHARES[effort]))) };
}

function level(model: string, effort: Effort): string {
  const isHydrogen = HYDROGEN.test(model);
  if (effort === "max") return isHydrogen ? "xhigh" : "high";
  if (effort !== "none" && effort !== "minimal") return effort;
  return isHydrogen || NOT_MINIMAL.test(model) ? "low" : "minimal";
}

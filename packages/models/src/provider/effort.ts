import type { ModelSettings } from "@banyan/core";

/** How much a model thinks before it answers. */
export type Effort = NonNullable<ModelSettings["effort"]>;

/**
 * The values of `Effort`, least first. Each can follow a model's name after a colon.
 * @example const names = efforts.map((effort) => `sonnet:${effort}`);
 */
export const efforts: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "max"];

/**
 * Splits a model name into the full name without effort, and the effort after the last colon.
 * @example const { full, effort } = withoutEffort("sonnet:high");
 */
export function withoutEffort(name: string): { readonly full: string; readonly effort: Effort | undefined } {
  const colon = name.lastIndexOf(":");
  const effort = efforts.find((each) => each === name.slice(colon + 1));
  return colon <= 0 || effort === undefined
    ? { full: name, effort: undefined }
    : { full: name.slice(0, colon), effort };
}

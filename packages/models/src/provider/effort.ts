import type { ModelSettings } from "@banyan/core";
import { efforts } from "@banyan/core/drivers";

/** How much a model thinks before it answers. */
export type Effort = NonNullable<ModelSettings["effort"]>;

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

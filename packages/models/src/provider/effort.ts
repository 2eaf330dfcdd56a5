import type { ModelSettings } from "@banyan/core";
import { OptionError } from "@banyan/core/conversation";
import { efforts } from "@banyan/core/drivers";

/** The amount of reasoning before an answer. See {@link withoutEffort}. */
export type Effort = NonNullable<ModelSettings["effort"]>;

/**
 * Splits a model name into the full name without effort, and the effort after the last colon.
 * @example const { full, effort } = withoutEffort("sonnet:high");
 */
export function withoutEffort(name: string): { readonly full: string; readonly effort: Effort | undefined } {
  if (typeof name !== "string")
    throw new OptionError(`The name of a model must be a string, such as "openai/gpt-5", not of type ${typeof name}.`);
  const colon = name.lastIndexOf(":");
  const effort = efforts.find((each) => each === name.slice(colon + 1));
  return colon <= 0 || effort === undefined
    ? { full: name, effort: undefined }
    : { full: name.slice(0, colon), effort };
}

import { createMistral } from "@ai-sdk/mistral";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { packageSettings } from "../provider/package-settings.ts";
import { mistral as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model of Mistral.
 * @example
 * const agent = new Agent({ model: mistral("mistral-medium-latest") });
 */
export const mistral: ModelFunction = modelFunction("mistral", facts, (target) =>
  overPackage(createMistral(packageSettings(target, "chat"))(target.model), target),
);

import { createXai } from "@ai-sdk/xai";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { packageSettings } from "../provider/package-settings.ts";
import { xai as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model of xAI.
 * @example
 * const agent = new Agent({ model: xai("grok-4.5") });
 */
export const xai: ModelFunction = modelFunction("xai", facts, (target) =>
  overPackage(createXai(packageSettings(target, "responses"))(target.model), target),
);

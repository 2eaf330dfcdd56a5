import { openAIResponses } from "../openai-responses/driver.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { wireOptions } from "../provider/of-target.ts";
import { xai as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model of xAI.
 * @example
 * const agent = new Agent({ model: xai("grok-4.5") });
 */
export const xai: ModelFunction = modelFunction("xai", facts, (target) =>
  openAIResponses({ ...wireOptions(target), provider: "xai" }),
);

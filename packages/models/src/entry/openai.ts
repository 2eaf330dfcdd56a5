import { openAIResponses } from "../openai-responses/driver.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { wireOptions } from "../provider/of-target.ts";
import { openai as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of an OpenAI model, over the responses API.
 * @example
 * const agent = new Agent({ model: openai("gpt-5.4") });
 */
export const openai: ModelFunction = modelFunction("openai", facts, (target) => openAIResponses(wireOptions(target)));

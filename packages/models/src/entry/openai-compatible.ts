import { openAIChat } from "../openai-chat/driver.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { maxTokensField, wireOptions } from "../provider/of-target.ts";
import { openaiCompatible as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model on any server with OpenAI's chat completions API. Needs no package of a provider.
 * @example
 * const agent = new Agent({ model: openaiCompatible("qwen3", { baseURL: "http://127.0.0.1:8080/v1" }) });
 */
export const openaiCompatible: ModelFunction = modelFunction("openaiCompatible", facts, (target) =>
  openAIChat({
    ...wireOptions(target),
    maxTokensField: maxTokensField(target),
    ...(target.textCalls === undefined ? {} : { textCalls: target.textCalls }),
  }),
);

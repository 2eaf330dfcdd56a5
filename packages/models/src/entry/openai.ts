import { OpenAIResponsesLanguageModel } from "@ai-sdk/openai/internal";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { fetchFor } from "../provider/package-settings.ts";
import { openai as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of an OpenAI model, over the responses API.
 * @example
 * const agent = new Agent({ model: openai("gpt-5.4") });
 */
export const openai: ModelFunction = modelFunction("openai", facts, (target) => {
  const { address, apiKey } = target;
  // The model alone is a third smaller than the provider, which also makes pictures, speech and transcripts.
  const model = new OpenAIResponsesLanguageModel(target.model, {
    provider: "openai.responses",
    url: ({ path }) => `${address}${path}`,
    headers: () => ({ authorization: `Bearer ${apiKey}`, "user-agent": "banyan" }),
    fetch: fetchFor(target, "responses"),
    fileIdPrefixes: ["file-"],
  });
  return overPackage(model, target);
});

import { GoogleLanguageModel } from "@ai-sdk/google/internal";
import { countAtEndpoint, googleCount } from "../provider/count-tokens.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { fetchFor } from "../provider/package-settings.ts";
import { google as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a Gemini model.
 * @example
 * const agent = new Agent({ model: google("gemini-3.5-flash") });
 */
export const google: ModelFunction = modelFunction("google", facts, (target) => {
  const open = (fetch: typeof globalThis.fetch) => {
    // The model alone is a third smaller than the provider.
    const model = new GoogleLanguageModel(target.model, {
      provider: "google.generative-ai",
      baseURL: target.address,
      headers: () => ({ "x-goog-api-key": target.apiKey, "user-agent": "banyan" }),
      fetch,
      generateId: () => crypto.randomUUID(),
    });
    return overPackage(model, target);
  };
  const driver = open(fetchFor(target, "google"));
  return { ...driver, countTokens: countAtEndpoint(driver, googleCount(target.model), fetchFor(target), open) };
});

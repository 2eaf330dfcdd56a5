import type { ModelDriver } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import { adaptForAnthropic } from "../families/anthropic.ts";
import type { WireOptions } from "../wire/client.ts";
import { modelFetch, withLife } from "../wire/fetch.ts";

/** Creates a driver for Anthropic's models through the AI SDK's provider package, and loads that package. */
export async function throughPackage(
  options: WireOptions,
  fetch = modelFetch({ ...options, format: "messages" }),
): Promise<ModelDriver> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const { id, model, baseURL, headers, price, contextSize, settings, takes } = options;
  const provider = createAnthropic({
    baseURL,
    // Without a key, the package would search the process's environment; a blank key prevents this.
    apiKey: options.apiKey ?? " ",
    ...(headers ? { headers: { ...headers } } : {}),
    fetch,
  });
  const driver = fromLanguageModel(provider(model), {
    id,
    address: baseURL,
    ...(price ? { price } : {}),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(settings ? { settings } : {}),
    takes,
    adapt: adaptForAnthropic,
    showsLife: true,
  });
  return withLife(driver);
}

import type { ModelDriver } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import { adaptForAnthropic } from "../families/anthropic.ts";
import { withPeer } from "../provider/peers.ts";
import type { WireOptions } from "../wire/client.ts";
import { modelFetch, withLife } from "../wire/fetch.ts";

/** Creates a driver for Anthropic's models through the AI SDK's provider package, and loads that package. */
export async function throughPackage(
  options: WireOptions,
  fetch = modelFetch({ ...options, format: "messages" }),
): Promise<ModelDriver> {
  const { AnthropicLanguageModel } = await withPeer("@ai-sdk/anthropic", () => import("@ai-sdk/anthropic/internal"));
  const { id, model, baseURL, apiKey, headers, price, contextSize, settings, takes } = options;
  // The model alone is a third smaller than the provider.
  const sent = new Headers({ "anthropic-version": "2023-06-01", ...headers });
  if (apiKey && !sent.has("x-api-key")) sent.set("x-api-key", apiKey);
  const provider = {
    provider: "anthropic.messages",
    baseURL,
    headers: Object.fromEntries(sent),
    fetch,
    supportsMessageThreads: true,
  };
  const driver = fromLanguageModel(new AnthropicLanguageModel(model, provider), {
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

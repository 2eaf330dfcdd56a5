import type { ModelDriver } from "@banyan/core";
import { countAtEndpoint, googleCount } from "../provider/count-tokens.ts";
import { overPackage } from "../provider/of-target.ts";
import { fetchFor } from "../provider/package-settings.ts";
import { withPeer } from "../provider/peers.ts";
import type { ModelTarget } from "../provider/provider.ts";

/** Creates a driver for Gemini's models through the AI SDK's provider package, and loads that package. */
export async function googlePackage(target: ModelTarget): Promise<ModelDriver> {
  const { GoogleLanguageModel } = await withPeer("@ai-sdk/google", () => import("@ai-sdk/google/internal"));
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
}

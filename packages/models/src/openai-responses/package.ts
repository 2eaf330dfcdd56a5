import type { ModelDriver } from "@banyan/core";
import { overPackage } from "../provider/of-target.ts";
import { fetchFor, packageSettings } from "../provider/package-settings.ts";
import { withPeer } from "../provider/peers.ts";
import type { ModelTarget } from "../provider/provider.ts";

/** Opens a model of OpenAI through the AI SDK's provider package, and loads that package. */
export async function openaiPackage(target: ModelTarget): Promise<ModelDriver> {
  const { OpenAIResponsesLanguageModel } = await withPeer("@ai-sdk/openai", () => import("@ai-sdk/openai/internal"));
  const { address, apiKey, model } = target;
  // The model alone is a third smaller than the provider, which also makes pictures, speech and transcripts.
  const provider = {
    provider: "openai.responses",
    url: ({ path }: { readonly path: string }) => `${address}${path}`,
    headers: () => ({ authorization: `Bearer ${apiKey}`, "user-agent": "banyan" }),
    fetch: fetchFor(target, "responses"),
    fileIdPrefixes: ["file-"],
  };
  return overPackage(new OpenAIResponsesLanguageModel(model, provider), target);
}

/** Opens a model at Azure in the same way. */
export async function azurePackage(target: ModelTarget): Promise<ModelDriver> {
  const { createAzure } = await withPeer("@ai-sdk/azure", () => import("@ai-sdk/azure"));
  return overPackage(createAzure(packageSettings(target, "responses")).responses(target.model), target);
}

/** Opens a model of xAI in the same way. */
export async function xaiPackage(target: ModelTarget): Promise<ModelDriver> {
  const { createXai } = await withPeer("@ai-sdk/xai", () => import("@ai-sdk/xai"));
  return overPackage(createXai(packageSettings(target, "responses"))(target.model), target);
}

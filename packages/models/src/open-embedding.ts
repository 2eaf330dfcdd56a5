import type { EmbeddingModel } from "@banyan/core/ai-sdk";
import { packageSettings } from "./provider/package-settings.ts";
import { withPeer } from "./provider/peers.ts";
import type { EmbeddingTarget } from "./provider/provider.ts";

// Opens an embedding model of each provider that has any. A provider's code is loaded only then.

/** Opens an embedding model of OpenAI, or of a server with the same API. */
export async function openOpenAIEmbedding(target: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createOpenAICompatible } = await withPeer(
    "@ai-sdk/openai-compatible",
    () => import("@ai-sdk/openai-compatible"),
  );
  return createOpenAICompatible({ ...packageSettings(target), name: "openai" }).embeddingModel(target.model);
}

export async function openGoogleEmbedding(target: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createGoogle } = await withPeer("@ai-sdk/google", () => import("@ai-sdk/google"));
  return createGoogle(packageSettings(target)).embeddingModel(target.model);
}

export async function openMistralEmbedding(target: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createMistral } = await withPeer("@ai-sdk/mistral", () => import("@ai-sdk/mistral"));
  return createMistral(packageSettings(target)).embeddingModel(target.model);
}

export async function openAzureEmbedding(target: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createAzure } = await withPeer("@ai-sdk/azure", () => import("@ai-sdk/azure"));
  return createAzure(packageSettings(target)).embeddingModel(target.model);
}

export async function openAmazonBedrockEmbedding(target: EmbeddingTarget): Promise<EmbeddingModel> {
  const [{ createAmazonBedrock }, { bedrockSettings }] = await Promise.all([
    withPeer("@ai-sdk/amazon-bedrock", () => import("@ai-sdk/amazon-bedrock")),
    import("./families/amazon-bedrock.ts"),
  ]);
  return createAmazonBedrock(bedrockSettings(target)).embeddingModel(target.model);
}

import type { EmbeddingModel, EmbeddingTarget } from "./provider.ts";

// How an embedding model of each provider that has some is opened. Nothing of a provider is loaded before that.

/** OpenAI, and any server that has embeddings in its format. */
export async function openai({ address, apiKey, model }: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  // Without a key the package takes OpenAI's from the environment of the process, which is nobody else's business.
  return createOpenAI({ baseURL: address, apiKey: apiKey ?? "none" }).embeddingModel(model);
}

export async function google({ address, apiKey = "", model }: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createGoogle } = await import("@ai-sdk/google");
  return createGoogle({ baseURL: address, apiKey }).embeddingModel(model);
}

export async function mistral({ address, apiKey = "", model }: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createMistral } = await import("@ai-sdk/mistral");
  return createMistral({ baseURL: address, apiKey }).embeddingModel(model);
}

export async function azure({ address, apiKey = "", model }: EmbeddingTarget): Promise<EmbeddingModel> {
  const { createAzure } = await import("@ai-sdk/azure");
  return createAzure({ baseURL: address, apiKey }).embeddingModel(model);
}

export async function amazonBedrock(target: EmbeddingTarget): Promise<EmbeddingModel> {
  const [{ createAmazonBedrock }, { bedrockSettings }] = await Promise.all([
    import("@ai-sdk/amazon-bedrock"),
    import("./families/amazon-bedrock.ts"),
  ]);
  return createAmazonBedrock(bedrockSettings(target)).embeddingModel(target.model);
}

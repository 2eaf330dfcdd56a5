import { fromLanguageModel, type LanguageModelOptions, type ModelDriver } from "@banyan/core";
import { openAIChat } from "./openai-chat/driver.ts";
import type { Target } from "./provider.ts";

// How a model of each provider is opened. Nothing of a provider is loaded before that.

export async function anthropic(target: Target): Promise<ModelDriver> {
  const [{ createAnthropic }, { adaptForAnthropic }] = await Promise.all([
    import("@ai-sdk/anthropic"),
    import("./families/anthropic.ts"),
  ]);
  // The address of a gateway is often written without the version.
  const baseURL = target.address.endsWith("/v1") ? target.address : `${target.address}/v1`;
  const model = createAnthropic({ ...where(target), baseURL })(target.model);
  return fromLanguageModel(model, { ...facts(target), adapt: adaptForAnthropic() });
}

export async function openai(target: Target): Promise<ModelDriver> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  return fromLanguageModel(createOpenAI(where(target)).responses(target.model), facts(target));
}

export async function google(target: Target): Promise<ModelDriver> {
  const { createGoogle } = await import("@ai-sdk/google");
  return fromLanguageModel(createGoogle(where(target))(target.model), facts(target));
}

export async function mistral(target: Target): Promise<ModelDriver> {
  const [{ createMistral }, { adaptForMistral }] = await Promise.all([
    import("@ai-sdk/mistral"),
    import("./families/mistral.ts"),
  ]);
  const model = createMistral(where(target))(target.model);
  return fromLanguageModel(model, { ...facts(target), adapt: adaptForMistral() });
}

export async function xai(target: Target): Promise<ModelDriver> {
  const { createXai } = await import("@ai-sdk/xai");
  return fromLanguageModel(createXai(where(target))(target.model), facts(target));
}

export async function groq(target: Target): Promise<ModelDriver> {
  const { createGroq } = await import("@ai-sdk/groq");
  return fromLanguageModel(createGroq(where(target))(target.model), facts(target));
}

export async function deepseek(target: Target): Promise<ModelDriver> {
  const { createDeepSeek } = await import("@ai-sdk/deepseek");
  return fromLanguageModel(createDeepSeek(where(target))(target.model), facts(target));
}

export async function azure(target: Target): Promise<ModelDriver> {
  const { createAzure } = await import("@ai-sdk/azure");
  return fromLanguageModel(createAzure(where(target))(target.model), facts(target));
}

export async function amazonBedrock(target: Target): Promise<ModelDriver> {
  const [{ createAmazonBedrock }, { adaptForBedrock }] = await Promise.all([
    import("@ai-sdk/amazon-bedrock"),
    import("./families/amazon-bedrock.ts"),
  ]);
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = target.variables;
  const provider = createAmazonBedrock({
    ...(target.address === "" ? {} : { baseURL: target.address }),
    // Without a key the package looks for one in the environment of the process; a blank one keeps it from that.
    apiKey: target.apiKey ?? " ",
    ...(AWS_REGION === undefined ? {} : { region: AWS_REGION }),
    ...(AWS_ACCESS_KEY_ID === undefined ? {} : { accessKeyId: AWS_ACCESS_KEY_ID }),
    ...(AWS_SECRET_ACCESS_KEY === undefined ? {} : { secretAccessKey: AWS_SECRET_ACCESS_KEY }),
    ...(AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN }),
  });
  return fromLanguageModel(provider(target.model), { ...facts(target), ...adaptForBedrock(target.model) });
}

/** Any server of the chat completions format. */
export async function chat(target: Target): Promise<ModelDriver> {
  return openAIChat({
    ...facts(target),
    ...where(target),
    model: target.model,
    ...(target.keyVariable === undefined ? {} : { keyVariable: target.keyVariable }),
    // OpenAI's reasoning models refuse the older field; other servers may not know the newer one.
    ...(target.address.startsWith("https://api.openai.com/") ? { maxTokensField: "max_completion_tokens" } : {}),
  });
}

export async function demo(): Promise<ModelDriver> {
  const { demoModel } = await import("./demo/index.ts");
  return demoModel();
}

function where({ address, apiKey }: Target): { baseURL: string; apiKey?: string } {
  return { baseURL: address, ...(apiKey === undefined ? {} : { apiKey }) };
}

function facts({ id, price, contextSize, settings }: Target): LanguageModelOptions & { id: string } {
  return {
    id,
    ...(price ? { price } : {}),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(settings ? { settings } : {}),
  };
}

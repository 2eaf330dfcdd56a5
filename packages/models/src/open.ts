import { fromLanguageModel, type LanguageModelOptions, type ModelDriver } from "@banyan/core";
import { anthropicMessages } from "./anthropic-messages/driver.ts";
import { throughPackage } from "./anthropic-messages/package.ts";
import { openAIChat } from "./openai-chat/driver.ts";
import type { Target } from "./provider.ts";
import type { WireOptions } from "./wire/client.ts";
import { fetchThrough } from "./wire/pool.ts";

// How a model of each provider is opened. Nothing of a provider is loaded before that.

export async function anthropic(target: Target): Promise<ModelDriver> {
  return anthropicMessages(atAnthropic(target));
}

export async function anthropicPackage(target: Target): Promise<ModelDriver> {
  return throughPackage(atAnthropic(target));
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
  const [{ createAmazonBedrock }, { adaptForBedrock, bedrockSettings }] = await Promise.all([
    import("@ai-sdk/amazon-bedrock"),
    import("./families/amazon-bedrock.ts"),
  ]);
  const provider = createAmazonBedrock({ ...bedrockSettings(target), ...proxied(target) });
  return fromLanguageModel(provider(target.model), { ...facts(target), ...adaptForBedrock(target.model) });
}

/** Any server of the chat completions format. */
export async function chat(target: Target): Promise<ModelDriver> {
  return openAIChat({
    ...wire(target),
    // OpenAI's reasoning models refuse the older field; other servers may not know the newer one.
    ...(target.address.startsWith("https://api.openai.com/") ? { maxTokensField: "max_completion_tokens" } : {}),
  });
}

export async function chatPackage(target: Target): Promise<ModelDriver> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const name = target.id.split("/", 1)[0] ?? target.id;
  // Without a key the package looks for one in the environment of the process; a blank one keeps it from that.
  const provider = createOpenAI({ name, apiKey: " ", ...where(target) });
  return fromLanguageModel(provider.chat(target.model), facts(target));
}

export async function demo(): Promise<ModelDriver> {
  const { demoModel } = await import("./demo/index.ts");
  return demoModel();
}

function atAnthropic(target: Target): WireOptions {
  // The address of a gateway is often written without the version.
  const baseURL = target.address.endsWith("/v1") ? target.address : `${target.address}/v1`;
  return { ...wire(target), baseURL };
}

/** What our own drivers need to know. */
function wire(target: Target): WireOptions {
  const { model, address, apiKey, keyVariable, proxy } = target;
  return {
    ...facts(target),
    model,
    baseURL: address,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    ...(proxy ? { proxy } : {}),
  };
}

/** What the packages need to know. */
function where(target: Target): { baseURL: string; apiKey?: string; fetch?: typeof fetch } {
  const { address, apiKey } = target;
  return { baseURL: address, ...(apiKey === undefined ? {} : { apiKey }), ...proxied(target) };
}

function proxied({ proxy }: Target): { fetch?: typeof fetch } {
  const fetch = proxy && fetchThrough({ proxy });
  return fetch ? { fetch } : {};
}

function facts({ id, price, contextSize, settings }: Target): LanguageModelOptions & { id: string } {
  return {
    id,
    ...(price ? { price } : {}),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(settings ? { settings } : {}),
  };
}

import type { ModelDriver } from "@banyan/core";
import { fromLanguageModel, type LanguageModelOptions } from "@banyan/core/ai-sdk";
import { anthropicMessages } from "./anthropic-messages/driver.ts";
import { throughPackage } from "./anthropic-messages/package.ts";
import { localModel } from "./local/driver.ts";
import { ollamaChat } from "./local/ollama.ts";
import type { LocalServerName } from "./local/window.ts";
import { openAIChat } from "./openai-chat/driver.ts";
import { packageSettings } from "./provider/package-settings.ts";
import type { ModelTarget } from "./provider/provider.ts";
import type { WireOptions } from "./wire/client.ts";
import { withLife } from "./wire/fetch.ts";

// Each function loads its provider's code only when called.

export async function anthropic(target: ModelTarget): Promise<ModelDriver> {
  return anthropicMessages(atAnthropic(target));
}

export async function anthropicPackage(target: ModelTarget): Promise<ModelDriver> {
  return throughPackage(atAnthropic(target));
}

export async function openOpenAI(target: ModelTarget): Promise<ModelDriver> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  return overPackage(createOpenAI(packageSettings(target, "responses")).responses(target.model), target);
}

export async function openGoogle(target: ModelTarget): Promise<ModelDriver> {
  const { createGoogle } = await import("@ai-sdk/google");
  return overPackage(createGoogle(packageSettings(target, "google"))(target.model), target);
}

export async function openMistral(target: ModelTarget): Promise<ModelDriver> {
  const { createMistral } = await import("@ai-sdk/mistral");
  return overPackage(createMistral(packageSettings(target, "chat"))(target.model), target);
}

export async function xai(target: ModelTarget): Promise<ModelDriver> {
  const { createXai } = await import("@ai-sdk/xai");
  return overPackage(createXai(packageSettings(target, "responses"))(target.model), target);
}

export async function groq(target: ModelTarget): Promise<ModelDriver> {
  const { createGroq } = await import("@ai-sdk/groq");
  return overPackage(createGroq(packageSettings(target, "chat"))(target.model), target);
}

export async function deepseek(target: ModelTarget): Promise<ModelDriver> {
  const { createDeepSeek } = await import("@ai-sdk/deepseek");
  return overPackage(createDeepSeek(packageSettings(target, "chat"))(target.model), target);
}

export async function openAzure(target: ModelTarget): Promise<ModelDriver> {
  const { createAzure } = await import("@ai-sdk/azure");
  return overPackage(createAzure(packageSettings(target, "responses"))(target.model), target);
}

export async function openAmazonBedrock(target: ModelTarget): Promise<ModelDriver> {
  const [{ createAmazonBedrock }, { adaptForBedrock, bedrockSettings }] = await Promise.all([
    import("@ai-sdk/amazon-bedrock"),
    import("./families/amazon-bedrock.ts"),
  ]);
  const provider = createAmazonBedrock(bedrockSettings(target));
  return overPackage(provider(target.model), target, adaptForBedrock(target.model));
}

/** Opens a model of any server with the chat completions API. */
export async function openChatServer(target: ModelTarget): Promise<ModelDriver> {
  return openAIChat({
    ...wire(target),
    maxTokensField: maxTokensField(target),
    ...(target.textCalls === undefined ? {} : { textCalls: target.textCalls }),
  });
}

/** Opens a model of a local server. Its context size comes from the server. */
export async function localChat(server: LocalServerName, target: ModelTarget): Promise<ModelDriver> {
  const { contextSize, ...unsized } = target;
  const native = (window: () => number | undefined) =>
    ollamaChat({ ...wire(unsized), baseURL: target.address.replace(/\/v1$/, ""), window, textCalls: target.textCalls });
  const ways = { chat: await openChatServer(unsized), ...(server === "ollama" ? { native } : {}) };
  return localModel({ ...target, server }, ways, contextSize);
}

/** Like `localChat`, but through the AI SDK's package. */
export async function localPackage(server: LocalServerName, target: ModelTarget): Promise<ModelDriver> {
  const { contextSize, ...unsized } = target;
  return localModel({ ...target, server }, { chat: await chatPackage(unsized) }, contextSize);
}

export async function chatPackage(target: ModelTarget): Promise<ModelDriver> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const name = target.id.split("/", 1)[0] ?? target.id;
  const provider = createOpenAICompatible({
    ...packageSettings(target, "chat"),
    name,
    includeUsage: true,
    transformRequestBody: ({ max_tokens, ...body }) => ({ [maxTokensField(target)]: max_tokens, ...body }),
  });
  return overPackage(provider(target.model), target);
}

/** OpenAI's reasoning models refuse the older field; other servers may not know the newer one. */
function maxTokensField({ address }: ModelTarget): "max_tokens" | "max_completion_tokens" {
  return new URL(address).hostname === "api.openai.com" ? "max_completion_tokens" : "max_tokens";
}

export async function demo(): Promise<ModelDriver> {
  const { demoModel } = await import("./demo/model.ts");
  return demoModel();
}

function atAnthropic(target: ModelTarget): WireOptions {
  // Users often write a gateway's address without the version.
  const baseURL = target.address.endsWith("/v1") ? target.address : `${target.address}/v1`;
  return { ...wire(target), baseURL };
}

/** Makes a driver over a package's model. */
function overPackage(
  model: Parameters<typeof fromLanguageModel>[0],
  target: ModelTarget,
  options: Pick<LanguageModelOptions, "adapt"> = {},
): ModelDriver {
  const { address } = target;
  return withLife(fromLanguageModel(model, { ...facts(target), address, ...options, showsLife: true }));
}

function wire(target: ModelTarget): WireOptions {
  const { model, address, apiKey, keyVariable, proxy, fetch, bounds } = target;
  return {
    ...facts(target),
    model,
    baseURL: address,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    ...(proxy ? { proxy } : {}),
    ...(fetch ? { fetch } : {}),
    ...(bounds ? { bounds } : {}),
  };
}

function facts({ id, price, contextSize, takes, settings }: ModelTarget): LanguageModelOptions & { id: string } {
  return {
    id,
    ...(price ? { price } : {}),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(takes ? { takes } : {}),
    ...(settings ? { settings } : {}),
  };
}

import type { ModelDriver } from "@banyan/core";
import { throughPackage } from "./anthropic-messages/package.ts";
import { openaiCompatible } from "./entry/openai-compatible.ts";
import { localModel } from "./local/driver.ts";
import type { LlamaLibrary } from "./local/llama-library.ts";
import { ollamaChat } from "./local/ollama.ts";
import type { LocalServerName } from "./local/window.ts";
import type { ModelFunction } from "./provider/model-function.ts";
import { maxTokensField, messagesOptions, overPackage, wireOptions } from "./provider/of-target.ts";
import { packageSettings } from "./provider/package-settings.ts";
import { type Peer, withPeer } from "./provider/peers.ts";
import type { ModelTarget } from "./provider/provider.ts";

// Each function loads its provider's code only when called.

export { googlePackage } from "./gemini/package.ts";

/** Returns a function that opens models with the function of a provider's entry. */
function through(peer: Peer, load: () => Promise<ModelFunction>) {
  return async (target: ModelTarget): Promise<ModelDriver> => (await withPeer(peer, load)).open(target);
}

/**
 * Loads the package early. Without this, Banyan's driver would report a missing package only with its first request.
 */
export const openAnthropic = through("@ai-sdk/anthropic", async () => {
  const [{ anthropic }] = await Promise.all([import("./entry/anthropic.ts"), import("@ai-sdk/anthropic/internal")]);
  return anthropic;
});
export const openMistral = through("@ai-sdk/mistral", async () => (await import("./entry/mistral.ts")).mistral);
export const openGroq = through("@ai-sdk/groq", async () => (await import("./entry/groq.ts")).groq);
export const openDeepSeek = through("@ai-sdk/deepseek", async () => (await import("./entry/deepseek.ts")).deepseek);
export const openAmazonBedrock = through(
  "@ai-sdk/amazon-bedrock",
  async () => (await import("./entry/amazon-bedrock.ts")).amazonBedrock,
);

export async function openGoogle(target: ModelTarget): Promise<ModelDriver> {
  return (await import("./entry/google.ts")).google.open(target);
}

/** Opens a model of OpenAI with Banyan's own driver. */
export async function openOpenAI(target: ModelTarget): Promise<ModelDriver> {
  return (await import("./entry/openai.ts")).openai.open(target);
}

/** Opens a model at Azure with Banyan's own driver. */
export async function openAzure(target: ModelTarget): Promise<ModelDriver> {
  return (await import("./entry/azure.ts")).azure.open(target);
}

/** Opens a model of xAI with Banyan's own driver. */
export async function openXai(target: ModelTarget): Promise<ModelDriver> {
  return (await import("./entry/xai.ts")).xai.open(target);
}

export async function anthropicPackage(target: ModelTarget): Promise<ModelDriver> {
  return throughPackage(messagesOptions(target));
}

/** Opens a model of any server with the chat completions API. */
export async function openChatServer(target: ModelTarget): Promise<ModelDriver> {
  return openaiCompatible.open(target);
}

/** Opens a model of a local server. Its context size comes from the server. */
export async function localChat(server: LocalServerName, target: ModelTarget): Promise<ModelDriver> {
  const { contextSize, ...unsized } = target;
  const native = (window: () => number | undefined) =>
    ollamaChat({
      ...wireOptions(unsized),
      baseURL: target.address.replace(/\/v1$/, ""),
      window,
      textCalls: target.textCalls,
    });
  const ways = { chat: await openChatServer(unsized), ...(server === "ollama" ? { native } : {}) };
  return localModel({ ...target, server }, ways, contextSize);
}

/** The same as `localChat`, but through the AI SDK's package. */
export async function localPackage(server: LocalServerName, target: ModelTarget): Promise<ModelDriver> {
  const { contextSize, ...unsized } = target;
  return localModel({ ...target, server }, { chat: await chatPackage(unsized) }, contextSize);
}

export async function chatPackage(target: ModelTarget): Promise<ModelDriver> {
  const { createOpenAICompatible } = await withPeer(
    "@ai-sdk/openai-compatible",
    () => import("@ai-sdk/openai-compatible"),
  );
  const name = target.id.split("/", 1)[0] ?? target.id;
  const provider = createOpenAICompatible({
    ...packageSettings(target, "chat"),
    name,
    includeUsage: true,
    supportsStructuredOutputs: true,
    transformRequestBody: ({ max_tokens, ...body }) => ({ [maxTokensField(target)]: max_tokens, ...body }),
  });
  return overPackage(provider(target.model), target);
}

/** Opens a model file in this process. */
export async function openLocalFile(target: ModelTarget): Promise<ModelDriver> {
  // The package is not installed with this one, so its types are unknown.
  const library = (await withPeer("node-llama-cpp", () => import("node-llama-cpp" as string))) as LlamaLibrary;
  const { llamaFile } = await import("./local/llama.ts");
  return llamaFile(library, target);
}

export async function demo(): Promise<ModelDriver> {
  const { demoModel } = await import("./demo/model.ts");
  return demoModel();
}

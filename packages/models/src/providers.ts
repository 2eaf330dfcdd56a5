import { fromLanguageModel, type ModelDriver } from "@banyan/core";
import type { Provider, Target } from "./provider.ts";

/**
 * The providers by name. Their order is the one in which a default is looked for: first those with a key or an address
 * in the environment, then the local servers.
 */
export const providers: readonly Provider[] = [
  {
    name: "anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    needsKey: true,
    addressVariable: "ANTHROPIC_BASE_URL",
    address: "https://api.anthropic.com",
    defaultModel: "claude-sonnet-5",
    catalogue: "anthropic",
    async open(target) {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      // The address is often written without its version.
      const baseURL = target.address.endsWith("/v1") ? target.address : `${target.address}/v1`;
      return fromLanguageModel(createAnthropic({ baseURL, ...key(target) })(target.model), facts(target));
    },
  },
  {
    name: "openai",
    keyVariable: "OPENAI_API_KEY",
    needsKey: true,
    addressVariable: "OPENAI_BASE_URL",
    address: "https://api.openai.com/v1",
    defaultModel: "gpt-5.4",
    catalogue: "openai",
    async open(target) {
      const { createOpenAI } = await import("@ai-sdk/openai");
      const provider = createOpenAI({ baseURL: target.address, ...key(target) });
      return fromLanguageModel(provider.responses(target.model), facts(target));
    },
  },
  {
    name: "openai-chat",
    keyVariable: "OPENAI_API_KEY",
    needsKey: true,
    addressVariable: "OPENAI_BASE_URL",
    address: "https://api.openai.com/v1",
    catalogue: "openai",
    open: openChat,
  },
  {
    name: "openai-compatible",
    keyVariable: "OPENAI_COMPATIBLE_API_KEY",
    addressVariable: "OPENAI_COMPATIBLE_BASE_URL",
    open: openChat,
  },
  localServer("ollama", 11434),
  localServer("lmstudio", 1234),
  localServer("llamacpp", 8080),
  localServer("vllm", 8000),
  {
    name: "demo",
    async open() {
      const { demoModel } = await import("./demo/index.ts");
      return demoModel();
    },
  },
];

/** A server in the chat completions format that people run themselves, on its usual port. */
function localServer(name: string, port: number): Provider {
  return {
    name,
    keyVariable: `${name.toUpperCase()}_API_KEY`,
    addressVariable: `${name.toUpperCase()}_BASE_URL`,
    address: `http://127.0.0.1:${port}/v1`,
    local: true,
    open: openChat,
  };
}

async function openChat(target: Target): Promise<ModelDriver> {
  const { openAIChat } = await import("./openai-chat/driver.ts");
  return openAIChat({
    ...facts(target),
    ...key(target),
    model: target.model,
    baseURL: target.address,
    ...(target.keyVariable === undefined ? {} : { keyVariable: target.keyVariable }),
    // OpenAI's reasoning models refuse the older field; other servers may not know the newer one.
    ...(target.address.startsWith("https://api.openai.com/") ? { maxTokensField: "max_completion_tokens" } : {}),
  });
}

function key({ apiKey }: Target): { apiKey?: string } {
  return apiKey === undefined ? {} : { apiKey };
}

function facts({ id, price, contextSize }: Target): Pick<ModelDriver, "id" | "price" | "contextSize"> {
  return { id, ...(price ? { price } : {}), ...(contextSize === undefined ? {} : { contextSize }) };
}

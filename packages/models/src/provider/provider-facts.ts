import type { ProviderFacts } from "./provider.ts";

// One constant for each provider, so that a provider's entry does not load the facts of other providers.

export const anthropic: ProviderFacts = {
  name: "anthropic",
  keyVariable: "ANTHROPIC_API_KEY",
  needsKey: true,
  addressVariable: "ANTHROPIC_BASE_URL",
  address: "https://api.anthropic.com",
  path: "/v1",
  defaultModel: "claude-sonnet-5",
  catalogue: "anthropic",
};

export const openai: ProviderFacts = {
  name: "openai",
  keyVariable: "OPENAI_API_KEY",
  needsKey: true,
  addressVariable: "OPENAI_BASE_URL",
  address: "https://api.openai.com",
  path: "/v1",
  defaultModel: "gpt-5.4",
  catalogue: "openai",
};

export const openaiChat: ProviderFacts = {
  name: "openai-chat",
  keyVariable: "OPENAI_API_KEY",
  needsKey: true,
  addressVariable: "OPENAI_BASE_URL",
  address: "https://api.openai.com",
  path: "/v1",
  catalogue: "openai",
};

export const google: ProviderFacts = {
  name: "google",
  keyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
  needsKey: true,
  addressVariable: "GOOGLE_GENERATIVE_AI_BASE_URL",
  address: "https://generativelanguage.googleapis.com",
  path: "/v1beta",
  defaultModel: "gemini-3.5-flash",
  catalogue: "google",
};

export const mistral: ProviderFacts = {
  name: "mistral",
  keyVariable: "MISTRAL_API_KEY",
  needsKey: true,
  addressVariable: "MISTRAL_BASE_URL",
  address: "https://api.mistral.ai",
  path: "/v1",
  defaultModel: "mistral-medium-latest",
  catalogue: "mistral",
};

export const xai: ProviderFacts = {
  name: "xai",
  keyVariable: "XAI_API_KEY",
  needsKey: true,
  addressVariable: "XAI_BASE_URL",
  address: "https://api.x.ai",
  path: "/v1",
  defaultModel: "grok-4.5",
  catalogue: "x-ai",
};

export const groq: ProviderFacts = {
  name: "groq",
  keyVariable: "GROQ_API_KEY",
  needsKey: true,
  addressVariable: "GROQ_BASE_URL",
  address: "https://api.groq.com",
  path: "/openai/v1",
  defaultModel: "openai/gpt-oss-120b",
  catalogue: "groq",
};

export const deepseek: ProviderFacts = {
  name: "deepseek",
  keyVariable: "DEEPSEEK_API_KEY",
  needsKey: true,
  addressVariable: "DEEPSEEK_BASE_URL",
  address: "https://api.deepseek.com",
  defaultModel: "deepseek-v4-flash",
  catalogue: "deepseek",
};

export const openrouter: ProviderFacts = {
  name: "openrouter",
  keyVariable: "OPENROUTER_API_KEY",
  needsKey: true,
  addressVariable: "OPENROUTER_BASE_URL",
  address: "https://openrouter.ai",
  path: "/api/v1",
  defaultModel: "anthropic/claude-sonnet-5",
  catalogue: "openrouter",
};

export const azure: ProviderFacts = {
  name: "azure",
  keyVariable: "AZURE_API_KEY",
  needsKey: true,
  addressVariable: "AZURE_BASE_URL",
  address: "https://{AZURE_RESOURCE_NAME}.openai.azure.com/openai",
  catalogue: "azure",
};

export const amazonBedrock: ProviderFacts = {
  name: "amazon-bedrock",
  keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
  addressVariable: "AMAZON_BEDROCK_BASE_URL",
  address: "",
  variables: ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
  needsOneOf: [
    ["AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK"],
    ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  ],
  catalogue: "aws",
};

export const openaiCompatible: ProviderFacts = {
  name: "openai-compatible",
  keyVariable: "OPENAI_COMPATIBLE_API_KEY",
  addressVariable: "OPENAI_COMPATIBLE_BASE_URL",
};

export type { EmbeddingModel } from "@banyan/core/ai-sdk";
export { efforts } from "@banyan/core/drivers";
export { type AnthropicMessagesOptions, anthropicMessages } from "./anthropic-messages/driver.ts";
export { type ChooseModelOptions, chooseModel, type ModelChoice } from "./choose.ts";
export { embeddingModel } from "./embedding.ts";
export { listModels, listProviders, type ProviderStatus } from "./listing.ts";
export { type LocalModelServer, localModelServers } from "./local-servers.ts";
export { type Aliases, builtInAliases } from "./name.ts";
export { type OpenAIChatOptions, openAIChat } from "./openai-chat/driver.ts";
export {
  type OpenAIMessage,
  type OpenAIToolCall,
  type OpenAIUserPart,
  toOpenAIMessages,
} from "./openai-chat/messages.ts";
export { type OpenAIResponsesOptions, openAIResponses } from "./openai-responses/driver.ts";
export type { KnownModel, ModelFacts, ModelOverride, ModelOverrides } from "./provider/catalogue.ts";
export { type Effort, withoutEffort } from "./provider/effort.ts";
export type { EnvironmentVariables } from "./provider/environment.ts";
export { ModelChoiceError, type ModelChoiceErrorCode } from "./provider/model-choice-error.ts";
export { checkModel, type ResolveOptions, resolveModel } from "./resolve.ts";
export type { WireBounds } from "./wire/bounds.ts";
export type { WireOptions } from "./wire/client.ts";
export { loadWire, type PoolOptions, type ProxyAddresses } from "./wire/pool.ts";

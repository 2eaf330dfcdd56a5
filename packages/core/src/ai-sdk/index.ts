// Drivers for models of the `@ai-sdk/provider` interface, for programs that wrap such models; agents also take them.
export {
  type EmbeddingModel,
  fromLanguageModel,
  type LanguageModelOptions,
  type LanguageModelRequest,
} from "./language-model.ts";

// Models of the `@ai-sdk/provider` interface as drivers. An agent takes such a model as it is; this is for who wraps one.
export {
  type EmbeddingModel,
  fromLanguageModel,
  type LanguageModelOptions,
  type LanguageModelRequest,
} from "./language-model.ts";

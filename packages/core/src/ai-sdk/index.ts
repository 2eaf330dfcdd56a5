export {
  type EmbeddingModel,
  fromLanguageModel,
  type LanguageModelOptions,
  type LanguageModelRequest,
} from "./language-model.ts";

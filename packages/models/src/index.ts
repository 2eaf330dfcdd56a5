export { lookUp, type ModelFacts } from "./catalogue.ts";
export { ModelChoiceError, type ModelChoiceErrorCode } from "./choice-error.ts";
export { type ChooseOptions, chooseModel, type ModelChoice } from "./choose.ts";
export type { Environment } from "./environment.ts";
export { type LocalServer, localServers } from "./local-servers.ts";
export { type OpenAIChatOptions, openAIChat } from "./openai-chat/driver.ts";
export { resolveModel } from "./resolve.ts";

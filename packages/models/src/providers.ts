import type { LocalServerName } from "./local/window.ts";
import * as open from "./open.ts";
import * as embedding from "./open-embedding.ts";
import { azurePackage, openaiPackage, xaiPackage } from "./openai-responses/package.ts";
import type { Provider } from "./provider/provider.ts";
import * as facts from "./provider/provider-facts.ts";

/** All providers in the order in which `chooseModel` tries them. Local servers come last. */
export const providers: readonly Provider[] = [
  { ...facts.anthropic, open: open.openAnthropic, openPackage: open.anthropicPackage },
  {
    ...facts.openai,
    open: open.openOpenAI,
    openPackage: openaiPackage,
    openEmbedding: embedding.openOpenAIEmbedding,
  },
  {
    ...facts.openaiChat,
    open: open.openChatServer,
    openPackage: open.chatPackage,
    openEmbedding: embedding.openOpenAIEmbedding,
  },
  {
    ...facts.google,
    open: open.openGoogle,
    openPackage: open.googlePackage,
    openEmbedding: embedding.openGoogleEmbedding,
  },
  { ...facts.mistral, open: open.openMistral, openEmbedding: embedding.openMistralEmbedding },
  { ...facts.xai, open: open.openXai, openPackage: xaiPackage },
  { ...facts.groq, open: open.openGroq },
  { ...facts.deepseek, open: open.openDeepSeek },
  {
    ...facts.openrouter,
    open: open.openChatServer,
    openPackage: open.chatPackage,
    openEmbedding: embedding.openOpenAIEmbedding,
  },
  {
    ...facts.azure,
    open: open.openAzure,
    openPackage: azurePackage,
    openEmbedding: embedding.openAzureEmbedding,
  },
  { ...facts.amazonBedrock, open: open.openAmazonBedrock, openEmbedding: embedding.openAmazonBedrockEmbedding },
  {
    ...facts.openaiCompatible,
    open: open.openChatServer,
    openPackage: open.chatPackage,
    openEmbedding: embedding.openOpenAIEmbedding,
  },
  localServer("ollama", 11434),
  localServer("lmstudio", 1234),
  localServer("llamacpp", 8080),
  localServer("vllm", 8000),
  { name: "local", isFree: true, open: open.openLocalFile },
  { name: "demo", isFree: true, open: open.demo },
];

/** A local server of the chat completions format, on its default port. */
function localServer(name: LocalServerName, port: number): Provider {
  return {
    name,
    keyVariable: `${name.toUpperCase()}_API_KEY`,
    addressVariable: `${name.toUpperCase()}_BASE_URL`,
    address: `http://127.0.0.1:${port}`,
    path: "/v1",
    local: true,
    open: (target) => open.localChat(name, target),
    openPackage: (target) => open.localPackage(name, target),
    openEmbedding: embedding.openOpenAIEmbedding,
  };
}

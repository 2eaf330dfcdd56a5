import { OpenAIResponsesLanguageModel } from "@ai-sdk/openai/internal";
import type { ModelDriver } from "@banyan/core";
import { fromLanguageModel } from "@banyan/core/ai-sdk";
import { resolveModel } from "../resolve.ts";

const ENVIRONMENT = {
  OPENAI_API_KEY: "key",
  AZURE_API_KEY: "key",
  AZURE_BASE_URL: "https://gateway.example/openai/v1",
  XAI_API_KEY: "key",
};

/** Opens Banyan's own driver of a model, or the driver over the model's package, with a `fetch`. */
export async function openDriver(
  name: string,
  driver: "own" | "package",
  fetch: typeof globalThis.fetch,
): Promise<ModelDriver> {
  if (driver === "own") return resolveModel(name, { env: ENVIRONMENT, fetch });
  if (!name.startsWith("azure/"))
    return resolveModel(name, { env: ENVIRONMENT, fetch, overrides: { [name]: { driver: "package" } } });
  // Azure's package contains an older version of OpenAI's package.
  const model = new OpenAIResponsesLanguageModel(name.slice("azure/".length), {
    provider: "azure.responses",
    url: ({ path }) => `${ENVIRONMENT.AZURE_BASE_URL}${path}`,
    headers: () => ({ "api-key": ENVIRONMENT.AZURE_API_KEY }),
    fetch,
    fileIdPrefixes: ["assistant-"],
  });
  return fromLanguageModel(model, { id: name });
}

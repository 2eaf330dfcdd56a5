import { resolveModel } from "@banyan/models";
import type { Format } from "../measure.ts";
import type { Client } from "./client.ts";
import { engineOver } from "./engine.ts";

const MODELS: Readonly<Record<Format, string>> = {
  chat: "openai-chat/mock",
  anthropic: "anthropic/mock",
  gemini: "google/mock",
  responses: "openai/mock",
};

/** Our engine over the provider package of the format, as a setting selects it, instead of our driver. */
export async function connect(address: string, format: Format): Promise<Client> {
  const env = {
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: address,
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: address,
    GOOGLE_GENERATIVE_AI_API_KEY: "none",
    GOOGLE_GENERATIVE_AI_BASE_URL: address,
  };
  const model = MODELS[format];
  return engineOver(await resolveModel(model, { env, overrides: { [model]: { driver: "package" } } }));
}

import type { ModelDriver } from "@banyan/core";
import { fromLanguageModel, type LanguageModelOptions } from "@banyan/core/ai-sdk";
import type { WireOptions } from "../wire/client.ts";
import { withLife } from "../wire/fetch.ts";
import { isOpenAI } from "../wire/openai-address.ts";
import type { ModelTarget } from "./provider.ts";

/** Makes a driver over the model of a provider's package. */
export function overPackage(
  model: Parameters<typeof fromLanguageModel>[0],
  target: ModelTarget,
  options: Pick<LanguageModelOptions, "adapt"> = {},
): ModelDriver {
  const { address } = target;
  return withLife(fromLanguageModel(model, { ...factsOf(target), address, ...options, showsLife: true }));
}

/** Returns the options of our own drivers. */
export function wireOptions(target: ModelTarget): WireOptions {
  const { model, address, apiKey, keyVariable, proxy, fetch, bounds } = target;
  return {
    ...factsOf(target),
    model,
    baseURL: address,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    ...(proxy ? { proxy } : {}),
    ...(fetch ? { fetch } : {}),
    ...(bounds ? { bounds } : {}),
  };
}

function factsOf({ id, price, contextSize, takes, settings }: ModelTarget): LanguageModelOptions & { id: string } {
  return {
    id,
    ...(price ? { price } : {}),
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(takes ? { takes } : {}),
    ...(settings ? { settings } : {}),
  };
}

/** Returns the options of our driver for Anthropic's format. */
export function messagesOptions(target: ModelTarget): WireOptions {
  // Users often write a gateway's address without the version.
  const baseURL = target.address.endsWith("/v1") ? target.address : `${target.address}/v1`;
  return { ...wireOptions(target), baseURL };
}

/**
 * The name of the field. OpenAI's reasoning models refuse the older field, and other servers may not know the newer
 * one.
 */
export function maxTokensField({ address }: ModelTarget): "max_tokens" | "max_completion_tokens" {
  return isOpenAI(address) ? "max_completion_tokens" : "max_tokens";
}

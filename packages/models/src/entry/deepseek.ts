import { createDeepSeek } from "@ai-sdk/deepseek";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { packageSettings } from "../provider/package-settings.ts";
import { deepseek as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model of DeepSeek.
 * @example
 * const agent = new Agent({ model: deepseek("deepseek-v4-flash") });
 */
export const deepseek: ModelFunction = modelFunction("deepseek", facts, (target) =>
  overPackage(createDeepSeek(packageSettings(target, "chat"))(target.model), target),
);

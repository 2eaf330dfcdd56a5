import { createGroq } from "@ai-sdk/groq";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { packageSettings } from "../provider/package-settings.ts";
import { groq as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model at Groq.
 * @example
 * const agent = new Agent({ model: groq("openai/gpt-oss-120b") });
 */
export const groq: ModelFunction = modelFunction("groq", facts, (target) =>
  overPackage(createGroq(packageSettings(target, "chat"))(target.model), target),
);

import { geminiContent } from "../gemini/driver.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { wireOptions } from "../provider/of-target.ts";
import { google as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a Gemini model.
 * @example
 * const agent = new Agent({ model: google("gemini-3.5-flash") });
 */
export const google: ModelFunction = modelFunction("google", facts, (target) => geminiContent(wireOptions(target)));

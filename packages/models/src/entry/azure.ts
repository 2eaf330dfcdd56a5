import { createAzure } from "@ai-sdk/azure";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { packageSettings } from "../provider/package-settings.ts";
import { azure as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model at Azure. Its name is the name of your deployment.
 * @example
 * const agent = new Agent({ model: azure("my-deployment") });
 */
export const azure: ModelFunction = modelFunction("azure", facts, (target) =>
  overPackage(createAzure(packageSettings(target, "responses")).responses(target.model), target),
);

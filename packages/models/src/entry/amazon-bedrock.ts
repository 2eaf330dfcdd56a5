import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { adaptForBedrock, bedrockSettings } from "../families/amazon-bedrock.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { overPackage } from "../provider/of-target.ts";
import { amazonBedrock as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model at Amazon Bedrock, over its Converse API.
 * @example
 * const env = { AWS_REGION: "eu-central-1", AWS_BEARER_TOKEN_BEDROCK: "..." };
 * const agent = new Agent({ model: amazonBedrock("eu.anthropic.claude-sonnet-5", { env }) });
 */
export const amazonBedrock: ModelFunction = modelFunction("amazonBedrock", facts, (target) =>
  overPackage(createAmazonBedrock(bedrockSettings(target))(target.model), target, adaptForBedrock(target.model)),
);

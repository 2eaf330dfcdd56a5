import { openAIResponses } from "../openai-responses/driver.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { wireOptions } from "../provider/of-target.ts";
import { azure as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of a model at Azure. Its name is the name of your deployment.
 * @example
 * const agent = new Agent({ model: azure("my-deployment") });
 */
export const azure: ModelFunction = modelFunction("azure", facts, (target) =>
  openAIResponses({ ...wireOptions(target), provider: "azure", baseURL: versioned(target.address) }),
);

/** Completes an address of Azure itself with the version of the API. Gateways have versions of their own. */
function versioned(address: string): string {
  const url = new URL(address);
  const path = url.pathname.replace(/\/+$/, "");
  const isAzure = /\.(openai|services\.ai|cognitiveservices)\.azure\.com$/.test(url.hostname);
  if (!isAzure || /\/openai\/v1$/i.test(path)) return address;
  url.pathname = `${path}/v1`;
  const isProject = url.hostname.endsWith(".services.ai.azure.com") && path.startsWith("/api/projects/");
  if (!isProject && !url.searchParams.has("api-version")) url.searchParams.set("api-version", "v1");
  return url.href;
}

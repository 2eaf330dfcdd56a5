import type { AmazonBedrockProviderSettings } from "@ai-sdk/amazon-bedrock";
import type { LanguageModelOptions } from "@banyan/core/ai-sdk";
import { fetchFor, type PackageTarget } from "../provider/package-settings.ts";
import { markForCache } from "./anthropic.ts";

/** Adds Bedrock's marks for the prompt cache to requests for Claude models. Other models refuse these marks. */
export function adaptForBedrock(model: string): Pick<LanguageModelOptions, "adapt"> {
  if (!/\banthropic\.claude/.test(model)) return {};
  return { adapt: (request) => markForCache(request, { bedrock: { cachePoint: { type: "default" } } }) };
}

/** Returns the settings of the Bedrock package: address and credentials. */
export function bedrockSettings(asking: PackageTarget): AmazonBedrockProviderSettings {
  const { address, apiKey, variables } = asking;
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = variables;
  return {
    ...(address === "" ? {} : { baseURL: address }),
    // Without a key, the package would search the process's environment; a blank key prevents this.
    apiKey: apiKey ?? " ",
    ...(AWS_REGION === undefined ? {} : { region: AWS_REGION }),
    ...(AWS_ACCESS_KEY_ID === undefined ? {} : { accessKeyId: AWS_ACCESS_KEY_ID }),
    ...(AWS_SECRET_ACCESS_KEY === undefined ? {} : { secretAccessKey: AWS_SECRET_ACCESS_KEY }),
    ...(AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: AWS_SESSION_TOKEN }),
    fetch: fetchFor(asking, "converse"),
  };
}

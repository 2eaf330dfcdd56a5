import { PDF, PICTURES } from "@banyan/core/drivers";

/** Providers of the Responses API. The name is the key of `providerOptions`, of provider data and of server tools. */
export type ResponsesProvider = "openai" | "azure" | "xai";

/** Default media types of files in tool results, by provider. */
export const TAKEN: Readonly<Record<ResponsesProvider, readonly string[]>> = {
  openai: [...PICTURES, PDF],
  azure: [...PICTURES, PDF],
  xai: ["image/png", "image/jpeg"],
};

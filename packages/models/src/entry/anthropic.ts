import { anthropicMessages } from "../anthropic-messages/driver.ts";
import { type ModelFunction, modelFunction } from "../provider/model-function.ts";
import { messagesOptions } from "../provider/of-target.ts";
import { anthropic as facts } from "../provider/provider-facts.ts";

export type { ModelFunction, ProviderModelOptions } from "../provider/model-function.ts";

/**
 * Creates the driver of an Anthropic model, over the messages API.
 * @example
 * const agent = new Agent({ model: anthropic("claude-sonnet-5") });
 */
export const anthropic: ModelFunction = modelFunction("anthropic", facts, (target) =>
  anthropicMessages(messagesOptions(target)),
);

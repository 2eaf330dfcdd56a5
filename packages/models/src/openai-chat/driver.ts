import type { ModelDriver } from "@banyan/core";
import { OptionError, type OptionNames, refuseUnknown } from "@banyan/core/conversation";
import { rulesFor, withProviderRules } from "@banyan/core/drivers";
import { WIRE_OPTIONS, WireClient, type WireOptions } from "../wire/client.ts";
import { isOpenAI } from "../wire/openai-address.ts";
import { ChatAnswer } from "./answer.ts";
import { type ChatRequestShape, encodeChatRequest, requestToolNames } from "./request.ts";

/**
 * Options of a model on a server with the chat completions API. The key is sent as a bearer token. Requests may have
 * `providerOptions`, under the part of `id` before the first slash.
 * @example
 * openAIChat({
 *   id: "local/qwen",
 *   model: "qwen3-coder",
 *   baseURL: "http://127.0.0.1:8080/v1",
 *   maxTokensField: "max_completion_tokens",
 *   textCalls: false,
 * });
 */
export interface OpenAIChatOptions extends WireOptions {
  /**
   * The field for `maxTokens`. OpenAI's own reasoning models accept only `max_completion_tokens`. Default `max_tokens`.
   */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /**
   * True if calls that a model writes as text are treated as calls. For models without native calls. Default `true`.
   */
  readonly textCalls?: boolean;
}

const OPTIONS: OptionNames<OpenAIChatOptions> = { ...WIRE_OPTIONS, maxTokensField: true, textCalls: "boolean" };

/**
 * Creates a driver for OpenAI's chat completions API, which many servers offer. The driver loads and opens nothing
 * before the first request. It has no timeout, since a model may think for long: the caller must abort. Throws
 * `OptionError` if `baseURL` is not an address.
 * @example const model = openAIChat({ id: "local/qwen", model: "qwen3", baseURL: "http://127.0.0.1:8080/v1" });
 */
export function openAIChat(options: OpenAIChatOptions): ModelDriver {
  refuseUnknown("openAIChat", options, OPTIONS);
  if (!["max_tokens", "max_completion_tokens", undefined].includes(options.maxTokensField))
    throw new OptionError('maxTokensField of openAIChat must be "max_tokens" or "max_completion_tokens".');
  const client = new WireClient(options, {
    name: "chat completions",
    path: "/chat/completions",
    headers: options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {},
  });
  const provider = options.id.split("/", 1)[0] ?? options.id;
  const rules = rulesFor(provider.endsWith(".chat") ? provider : `${provider}.chat`, options.model);
  const shape: ChatRequestShape = {
    model: options.model,
    provider,
    takes: options.takes,
    needsReasoning: rules.needsReasoningWithCalls === true,
    maxTokensField: options.maxTokensField ?? "max_tokens",
    isOpenAI: isOpenAI(client.endpoint.address),
  };
  const driver: ModelDriver = {
    ...client.facts,
    family: "openai-chat",
    async stream(request, sink, signal) {
      signal.throwIfAborted();
      // Encode before the first await: the list of messages grows later.
      const body = encodeChatRequest(shape, request);
      const offered = requestToolNames(request.tools);
      await client.send(body, new ChatAnswer(client.endpoint, offered, options.textCalls), sink, signal);
    },
  };
  const { takes } = options;
  return Object.freeze(withProviderRules(driver, { rules, provider, takes, parameters: ["stream_options"] }));
}
